import { lstat, readFile } from 'node:fs/promises';
import type { LookAnswer } from '../looks.ts';

/**
 * Whether a host says that it needs a reboot. A file from before this boot does not count: a file that stays would have
 * the node rebooted for ever.
 * @param path as the pod has it: a link counts as it is, and leads nowhere
 * @throws {Error} when it can't be read
 */
export async function lookAt(path: string, stat = '/proc/stat'): Promise<LookAnswer> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!found) return 'none';
  const booted = bootTimeIn(await readFile(stat, 'utf8'));
  return found.mtimeMs < booted ? 'old' : 'needed';
}

/** proc_stat(5): `btime`, in seconds since the epoch. In milliseconds. @throws {Error} when it is not there. */
export function bootTimeIn(text: string): number {
  const [, seconds] = /^btime (\d{1,15})$/m.exec(text) ?? [];
  if (seconds === undefined) throw new Error('/proc/stat does not say when the host was booted');
  return Number(seconds) * 1000;
}
