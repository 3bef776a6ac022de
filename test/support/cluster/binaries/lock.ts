import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ProvisionError } from './error.ts';

export interface LockOptions {
  readonly signal: AbortSignal;
  /** Called once if somebody else holds the lock, with the PID it left there. */
  readonly onWait: (owner: string) => void;
}

/**
 * Runs `work` while holding the lock file, against every other process of this machine.
 *
 * The kernel's lock (flock), held by a small child that lives as long as our end of its stdin is open: it ends with us,
 * however we end, so there is no such thing as a stale lock. Node has no call for it, util-linux has a command.
 *
 * @throws {ProvisionError} when the signal fires before the lock is ours, or there is no `flock`.
 */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  const release = await acquire(path, options);
  try {
    // For whoever waits, to name us. The lock is on the inode, not on what is in it.
    await writeFile(path, `${process.pid}\n`);
    return await work();
  } finally {
    await release();
  }
}

async function acquire(path: string, { signal, onWait }: LockOptions): Promise<() => Promise<void>> {
  const holder = spawn('flock', [path, '/bin/sh', '-c', 'echo locked; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<string>((resolve) => {
    holder.once('error', (error) => resolve(error.message));
    holder.once('exit', (code, by) => resolve(by ?? `exit code ${code}`));
  });
  const stop = () => holder.kill();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();

  // An uncontended lock is there within milliseconds; only a real wait is worth telling about.
  const waiting = setTimeout(async () => onWait((await readFile(path, 'utf8').catch(() => '')).trim() || '?'), 500);
  const locked = new Promise<'locked'>((resolve) => holder.stdout.once('data', () => resolve('locked')));
  const outcome = await Promise.race([locked, ended]);
  clearTimeout(waiting);
  signal.removeEventListener('abort', stop);
  if (outcome !== 'locked') {
    if (signal.aborted) throw new ProvisionError('interrupted', 'start it again');
    throw new ProvisionError(`no lock on ${path} (flock: ${outcome})`, 'it needs flock from util-linux');
  }
  return async () => {
    holder.stdin.end();
    await ended;
  };
}
