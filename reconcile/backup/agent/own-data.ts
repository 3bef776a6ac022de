import { readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { attemptIn, keptName, restorePaths } from '../../../manifests/render/restore-paths.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import { latenessOfPlacing } from './attempts.ts';
import { isDirectory } from './disk.ts';
import { flushDirectory } from './files.ts';
import { type Restorer, whatIsPresent } from './place.ts';
import { requireMade, type StagedRestore } from './staged-restore.ts';

/** The data that a recovery goes on from: which of the names beside each other on the volume they have. */

/** The data of the member as they were when the recovery began, whatever an earlier attempt has made of their name. */
export async function originalOf(staged: StagedRestore): Promise<string> {
  const { dataDirectory, restorer } = staged;
  const source = (await isOriginal(staged)) ? dataDirectory : keptIn(dataDirectory, restorer);
  if (await isDirectory(join(source, 'member'))) return source;
  throw new BackupFailure('NoData', `there is no member in ${source}: the volume is empty, or another one`);
}

/** What lies under the name of the data was made by no attempt of this recovery. */
async function isOriginal({ dataDirectory, restorer }: StagedRestore): Promise<boolean> {
  try {
    await whatIsPresent(dataDirectory, restorer);
    return !(await isDirectory(keptIn(dataDirectory, restorer)));
  } catch (error) {
    if (error instanceof BackupFailure && error.reason === 'DataPresent') return true;
    throw error;
  }
}

function keptIn(dataDirectory: string, { id }: Restorer): string {
  return join(dirname(dataDirectory), keptName(id));
}

/** What attempts have left beside the data, which may be more than the volume has left. */
export async function removeLeftovers(volume: string): Promise<void> {
  for (const name of await readdir(volume))
    if (attemptIn(name) !== undefined) await rm(join(volume, name), { recursive: true, force: true });
}

/**
 * Gives the data of the member another name, where theirs is to be that of what was restored. Killed at any point,
 * they lie under one of the two names, and are found again.
 * @throws {BackupFailure} Superseded, NotRestorable: a member may serve these data by now, or nothing takes their place
 */
export async function keepOwn(staged: StagedRestore, name: string): Promise<void> {
  const { dataDirectory, restorer } = staged;
  if (!(await isDirectory(dataDirectory)) || !(await isOriginal(staged))) return;
  const volume = dirname(dataDirectory);
  const late = await latenessOfPlacing(volume, { recovery: restorer.id, attempt: restorer.attempt });
  if (late !== undefined) throw new BackupFailure('Superseded', late);
  await requireMade(restorePaths(dataDirectory, restorer.attempt).data);
  const free = (await isDirectory(join(volume, name))) ? `${name}-${restorer.attempt}` : name;
  await rename(dataDirectory, join(volume, free));
  await flushDirectory(volume);
}

/**
 * Puts the data of the member back under their name, where an attempt at a new life has kept them, and no etcd has
 * started on what it restored.
 */
export async function takeBackOwn(staged: StagedRestore): Promise<void> {
  const { dataDirectory, restorer } = staged;
  if (await isOriginal(staged)) return;
  await rm(dataDirectory, { recursive: true, force: true });
  await rename(keptIn(dataDirectory, restorer), dataDirectory);
  await flushDirectory(dirname(dataDirectory));
}
