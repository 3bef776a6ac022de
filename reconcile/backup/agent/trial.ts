import { constants, cp, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { restorePaths } from '../../../manifests/render/restore-paths.ts';
import { trialMargin } from '../../../manifests/render/trial-room.ts';
import { connectEtcd } from '../../clients/etcd.ts';
import { EtcdError } from '../../interfaces/etcd.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import { freeOn, inMiB } from './disk.ts';
import { makeScratchTls, readScratchTls } from './scratch-tls.ts';
import { compareTimeoutMs, untilServed } from './served.ts';
import { inUse, revisionStaged, type StagedRestore } from './staged-restore.ts';

/**
 * The trial of restored data, before anything is given up for them: an etcd as the member will be serves a copy, beside
 * them on the same volume. They themselves stay unopened.
 */

/**
 * Copies what etcdutl made, with certificates for the etcd that is to serve it. The snapshot is of no more use, and
 * makes room. @throws {BackupFailure} NotRestorable, NoRoomForTrial
 */
export async function stageTrial({ dataDirectory, restorer }: StagedRestore, now: Date): Promise<void> {
  const { snapshot, data, trial } = restorePaths(dataDirectory, restorer.attempt);
  await rm(snapshot, { force: true });
  await rm(trial.directory, { recursive: true, force: true });
  const need = (await sizeOf(data)) + trialMargin;
  const free = await freeOn(dirname(data));
  if (free < need) throw noRoom(need, free);
  await mkdir(trial.directory, { recursive: true, mode: 0o700 });
  try {
    await cp(data, trial.data, { recursive: true, mode: constants.COPYFILE_FICLONE });
    await makeScratchTls(trial.tls, now);
  } catch (error) {
    await rm(trial.directory, { recursive: true, force: true });
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw noRoom(need, free);
    throw error;
  }
}

export interface Trial {
  readonly endpoint: string;
  /** So long it may take to answer. */
  readonly startSeconds: number;
}

/**
 * Sees that the copy is served: a linearizable read, every page of its keys, and the revision that was to come of it.
 * Without that, the copy goes at once; else with the attempt's directory, as the last thing that is done: an etcd that
 * misses its files exits. @throws {BackupFailure} TrialFailed
 */
export async function tryOut(
  { dataDirectory, restorer }: StagedRestore,
  { endpoint, startSeconds }: Trial,
  signal: AbortSignal,
): Promise<void> {
  const { directory, trial } = restorePaths(dataDirectory, restorer.attempt);
  const client = connectEtcd({ tls: await readScratchTls(trial.tls), callTimeoutMs: 5_000 });
  try {
    const refused = await untilServed(client, endpoint, startSeconds * 1000, signal);
    if (refused !== undefined) throw failed(`it did not answer within ${startSeconds} s: ${refused}`);
    const { revision } = await client.status(endpoint, { signal });
    const wanted = await revisionStaged(directory);
    // Not equal: a lease may end at once, and its keys with it.
    if (wanted === undefined || Number(revision) < wanted)
      throw failed(`it serves revision ${revision}, and ${wanted} was restored`);
    await client.hashKv(endpoint, { signal, revision, timeoutMs: compareTimeoutMs });
  } catch (error) {
    await rm(trial.directory, inUse);
    if (error instanceof EtcdError && !signal.aborted) throw failed(error.message);
    throw error;
  } finally {
    client.close();
  }
}

function failed(what: string): BackupFailure {
  return new BackupFailure('TrialFailed', `etcd does not serve a copy of the restored data: ${what}`);
}

function noRoom(need: number, free: number): BackupFailure {
  const message = `a copy of the restored data needs ${inMiB(need)}, and ${inMiB(free)} are free`;
  return new BackupFailure('NoRoomForTrial', message);
}

async function sizeOf(directory: string): Promise<number> {
  const found = await readdir(directory, { recursive: true }).catch(() => {
    throw new BackupFailure('NotRestorable', `there is nothing restored in ${directory}`);
  });
  const sizes = await Promise.all(found.map(async (name) => (await stat(join(directory, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
