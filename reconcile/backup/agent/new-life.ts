import { constants } from 'node:fs';
import { cp, lstat, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { restorePaths } from '../../../manifests/render/restore-paths.ts';
import { mayBeginAt } from '../../../manifests/render/revisions.ts';
import { connectEtcd } from '../../clients/etcd.ts';
import { connectSnapshots } from '../../clients/etcd-snapshot.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import { lateness, markAttempt } from './attempts.ts';
import { freeOn, inMiB, takenBy } from './disk.ts';
import { writeUnflushed } from './files.ts';
import { originalOf, removeLeftovers } from './own-data.ts';
import { makeScratchTls, readScratchTls } from './scratch-tls.ts';
import { untilServed } from './served.ts';
import { lastRevisionOf, noteStaged, type StagedRestore } from './staged-restore.ts';
import { checkedTrailer, type SoundSnapshot } from './trailer.ts';

/**
 * A new life, made of the data of one member that is left: an etcd forgets all others on a copy of them, a snapshot of
 * that is restored beside them, and only then they get another name. Until the last rename nothing writes to them.
 */

/** What the etcd on the copy, and the one on what is restored, need to start: segments of their logs. In bytes. */
const reserve = 3 * 64 * 2 ** 20;

/**
 * Copies the data for the etcd that is to forget all others, with certificates for it, and marks that this attempt has
 * run. Leftovers of earlier attempts are deleted.
 * @throws {BackupFailure} Superseded, NoData, NoRoomForCopy
 */
export async function copyOwn({ dataDirectory, restorer }: StagedRestore, now: Date): Promise<void> {
  const volume = dirname(dataDirectory);
  const of = { recovery: restorer.id, attempt: restorer.attempt };
  const late = await lateness(volume, of);
  if (late !== undefined) throw new BackupFailure('Superseded', late);
  const source = await originalOf({ dataDirectory, restorer });
  await removeLeftovers(volume);
  await requireRoom(source);
  await markAttempt(volume, of);
  const { directory, trial } = restorePaths(dataDirectory, restorer.attempt);
  await mkdir(trial.directory, { recursive: true, mode: 0o700 });
  await cp(source, trial.data, { recursive: true, mode: constants.COPYFILE_FICLONE }).catch(
    async (error: NodeJS.ErrnoException) => {
      await rm(directory, { recursive: true, force: true });
      if (error.code === 'ENOSPC') await requireRoom(source);
      throw error;
    },
  );
  await makeScratchTls(trial.tls, now);
}

/** The copy, a snapshot of it, and what is restored from that lie beside the data at the same time. */
async function requireRoom(source: string): Promise<void> {
  const [size, { blocks }, free] = await Promise.all([
    takenBy(source),
    lstat(join(source, 'member/snap/db')),
    freeOn(source),
  ]);
  const need = size + 2 * 512 * blocks + reserve;
  if (free >= need) return;
  throw new BackupFailure(
    'NoRoomForCopy',
    `a copy of the data, a snapshot of it and what is restored from that need ${inMiB(need)}, and the volume has ${inMiB(free)} left`,
  );
}

export interface SaveRequest extends StagedRestore {
  /** Of the etcd that was started on the copy. */
  readonly endpoint: string;
  /** So long it may take to answer. */
  readonly startSeconds: number;
  /** So many revisions ahead of these data the new life begins. */
  readonly bump: number;
  readonly deadlineSeconds: number;
}

/**
 * Saves a snapshot of the etcd that has forgotten all others, where etcdutl looks for it, and checks it on the way.
 * @throws {BackupFailure} NotServed, RevisionTooHigh, and those of a defective snapshot
 */
export async function saveOwn(request: SaveRequest, signal: AbortSignal): Promise<SoundSnapshot> {
  const { dataDirectory, restorer, endpoint, startSeconds, bump, deadlineSeconds } = request;
  const { directory, snapshot: file, trial } = restorePaths(dataDirectory, restorer.attempt);
  const options = { tls: await readScratchTls(trial.tls) };
  const client = connectEtcd({ ...options, callTimeoutMs: 5_000 });
  const snapshots = connectSnapshots(options);
  try {
    const refused = await untilServed(client, endpoint, startSeconds * 1000, signal);
    if (refused !== undefined)
      throw new BackupFailure(
        'NotServed',
        `etcd does not serve a copy of the data: it did not answer within ${startSeconds} s: ${refused}`,
      );
    let found: SoundSnapshot | undefined;
    const sent = snapshots.snapshot(endpoint, { signal, timeoutMs: deadlineSeconds * 1000 });
    const checked = checkedTrailer(sent, (snapshot) => {
      found = snapshot;
    });
    await rm(file, { force: true });
    await writeUnflushed(file, checked, { signal, mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOSPC') throw error;
      throw new BackupFailure('NoRoomForCopy', 'the volume is full, with no room for a snapshot of the copy', error);
    });
    if (!found) throw new BackupFailure('NotASnapshot', 'etcd sent no snapshot of the copy');
    const begins = Number((await lastRevisionOf(file)) ?? 0n) + bump;
    if (!mayBeginAt(begins))
      throw new BackupFailure(
        'RevisionTooHigh',
        `the new life would begin at revision ${begins}, too near to 2^53, up to which clients read revisions exactly`,
      );
    await noteStaged(directory, { snapshot: found }, begins);
    return found;
  } finally {
    snapshots.close();
    client.close();
  }
}
