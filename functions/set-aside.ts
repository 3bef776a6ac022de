import { constants } from 'node:fs';
import { cp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { keptName } from '../manifests/render/restore-paths.ts';
import { lateness, markAttempt } from '../reconcile/backup/agent/attempts.ts';
import { freeOn, inMiB, isDirectory, takenBy } from '../reconcile/backup/agent/disk.ts';
import { flushDirectory, flushTree } from '../reconcile/backup/agent/files.ts';
import { removeLeftovers, takeBackOwn } from '../reconcile/backup/agent/own-data.ts';

/**
 * Before `etcd --force-new-cluster`: copies its data on the same volume, and marks that this attempt has run. Runs as
 * an init container of a recovery's Job that makes no new life.
 */

/** What the recovery reads from the pod's status (manifests/render/recovery-job.ts); a test compares the two. */
const codes = { done: 0, failed: 1, noRoom: 3, ranAlready: 4, noData: 5 } as const;

/** What etcd itself needs to start: two segments of its write-ahead log. In bytes. */
const reserve = 2 * 64 * 1024 * 1024;

export interface SetAside {
  /** etcd's data directory; the copy and the marks are made beside it. */
  readonly data: string;
  readonly recovery: string;
  readonly attempt: number;
  readonly withoutCopy: boolean;
}

export interface Said {
  readonly code: number;
  readonly message: string;
}

export async function setAside({ data, recovery, attempt, withoutCopy }: SetAside): Promise<Said> {
  const volume = dirname(data);
  const message = await lateness(volume, { recovery, attempt });
  if (message !== undefined) return { code: codes.ranAlready, message };
  // A new life that was begun before may have taken the room that its etcd needs.
  await removeLeftovers(volume);
  await takeBackOwn({ dataDirectory: data, restorer: { id: recovery, attempt } });
  if (!(await isDirectory(join(data, 'member')))) {
    return { code: codes.noData, message: `there is no member in ${data}: the volume is empty, or another one` };
  }
  if (!withoutCopy) {
    const lack = await copy(data, join(volume, keptName(recovery)));
    if (lack !== undefined) return { code: codes.noRoom, message: lack };
  }
  await markAttempt(volume, { recovery, attempt });
  return { code: codes.done, message: '' };
}

/** Copies once, before the first attempt: an existing copy stays as it is. @returns what is missing, in words */
async function copy(data: string, target: string): Promise<string | undefined> {
  if (await isDirectory(target)) return undefined;
  const partial = `${target}.partial`;
  await rm(partial, { recursive: true, force: true });
  const [size, free] = await Promise.all([takenBy(data), freeOn(data)]);
  if (free < size + reserve) {
    return `a copy of the data takes ${inMiB(size)}, etcd needs ${inMiB(reserve)} to start, and the volume has ${inMiB(free)} left`;
  }
  await cp(data, partial, { recursive: true, mode: constants.COPYFILE_FICLONE, preserveTimestamps: true });
  await flushTree(partial);
  await rename(partial, target);
  await flushDirectory(dirname(target));
  return undefined;
}

/** Resolves with the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  try {
    return await run(args);
  } catch (error) {
    await say(error instanceof Error ? error.message : String(error));
    return codes.failed;
  }
}

async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      data: { type: 'string' },
      recovery: { type: 'string' },
      attempt: { type: 'string' },
      'without-copy': { type: 'boolean', default: false },
    },
  });
  const { data, recovery, attempt, 'without-copy': withoutCopy } = values;
  if (!data || !recovery || !/^[1-9]\d*$/.test(attempt ?? '')) {
    throw new Error('usage: set-aside --data=<directory> --recovery=<id> --attempt=<number> [--without-copy]');
  }
  const said = await setAside({ data, recovery, attempt: Number(attempt), withoutCopy });
  await say(said.message);
  return said.code;
}

/** Where kubelet looks for a container's last words. */
async function say(message: string): Promise<void> {
  if (message === '') return;
  process.stderr.write(`${message}\n`);
  await writeFile('/dev/termination-log', message).catch(() => undefined);
}
