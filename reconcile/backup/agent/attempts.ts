import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { flushDirectory } from './files.ts';

/**
 * Which attempts of a recovery have run on a volume. The last guard: a Job that a frozen invocation creates too late
 * has the number of an attempt that has run, or a lower one.
 */

export interface RecoveryAttempt {
  readonly recovery: string;
  readonly attempt: number;
}

/** Why it comes too late; `undefined`: neither it nor a later one has run. */
export async function lateness(volume: string, { recovery, attempt }: RecoveryAttempt): Promise<string | undefined> {
  if (!(await ranOn(volume, recovery)).some((number) => number >= attempt)) return undefined;
  return `attempt ${attempt} of recovery ${recovery} comes too late: it, or a later attempt, has run on this volume`;
}

/**
 * Why an attempt that has run must not go on; `undefined`: none has run since. A pod that was deleted by force may run
 * on, on a node that is silent, when a later attempt has long made what its member serves.
 */
export async function latenessOfPlacing(
  volume: string,
  { recovery, attempt }: RecoveryAttempt,
): Promise<string | undefined> {
  const later = (await ranOn(volume, recovery)).find((number) => number > attempt);
  if (later === undefined) return undefined;
  return `attempt ${attempt} of recovery ${recovery} comes too late: attempt ${later} has run on this volume`;
}

async function ranOn(volume: string, recovery: string): Promise<readonly number[]> {
  const prefix = markOf(recovery, '');
  const names = await readdir(volume);
  return names.filter((name) => name.startsWith(prefix)).map((name) => Number(name.slice(prefix.length)));
}

/** @throws {NodeJS.ErrnoException} EEXIST: of two that come here at once, one fails. */
export async function markAttempt(volume: string, { recovery, attempt }: RecoveryAttempt): Promise<void> {
  await writeFile(join(volume, markOf(recovery, attempt)), '', { flag: 'wx', flush: true });
  await flushDirectory(volume);
}

function markOf(recovery: string, attempt: number | ''): string {
  return `recovery-${recovery}-attempt-${attempt}`;
}
