import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { jsonIn } from '../../../manifests/json.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import { flushDirectory, flushTree, ignoreMissing } from './files.ts';

/** Which attempt it is: a later one has a higher number. No number is used twice for one ID. */
export interface Restorer {
  readonly id: string;
  readonly attempt: number;
}

/** Which directory an attempt made, and what was in it then. It lies beside the data directory. */
interface Mark extends Restorer {
  readonly inode: string;
  readonly contents: string;
}

/**
 * Whether there are data under the final name. `made`: of this attempt. `unopened`: of an earlier attempt with this ID,
 * and unchanged since, so no etcd ever started on it. @throws {BackupFailure} DataPresent for any other data
 */
export async function whatIsPresent(
  dataDirectory: string,
  { id, attempt }: Restorer,
): Promise<'none' | 'made' | 'unopened'> {
  const inode = await inodeOf(dataDirectory);
  if (inode === undefined) return 'none';
  const mark = await readMark(markOf(dataDirectory));
  const isOurs = mark?.id === id && mark.inode === inode;
  if (isOurs && mark.attempt === attempt) return 'made';
  if (isOurs && mark.attempt < attempt && mark.contents === (await contentsOf(dataDirectory))) return 'unopened';
  throw new BackupFailure(
    'DataPresent',
    `${dataDirectory} exists, and this restore did not make it: nothing is restored over existing data; give it an empty volume`,
  );
}

/**
 * Gives restored data their final name once every byte is on the disk. Killed at any point, it leaves no data under
 * that name, or all of them. @throws {BackupFailure} DataPresent
 */
export async function placeData(made: string, dataDirectory: string, restorer: Restorer): Promise<void> {
  const parent = dirname(dataDirectory);
  const present = await whatIsPresent(dataDirectory, restorer);
  if (present === 'made') return;
  await flushTree(made);
  if (present === 'unopened') {
    // First out of the way: the one mark can't describe two directories.
    const replaced = join(dirname(made), 'replaced');
    await rm(replaced, { recursive: true, force: true });
    await rename(dataDirectory, replaced);
    await flushDirectory(parent);
  }
  // Which directory is ours is known before it gets its name: by its inode, which stays.
  const mark = { ...restorer, inode: await inodeOf(made), contents: await contentsOf(made) };
  const file = markOf(dataDirectory);
  await writeFile(`${file}.partial`, `${JSON.stringify(mark)}\n`, { flush: true });
  await rename(`${file}.partial`, file);
  await flushDirectory(parent);
  await rename(made, dataDirectory).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    throw new BackupFailure('DataPresent', `${dataDirectory} was made by another restore meanwhile: it stays`, error);
  });
  await flushDirectory(parent);
}

function markOf(dataDirectory: string): string {
  return join(dirname(dataDirectory), `.restored-${basename(dataDirectory)}.json`);
}

async function readMark(path: string): Promise<Mark | undefined> {
  const text = await readFile(path, 'utf8').catch(ignoreMissing);
  if (text === undefined) return undefined;
  const { id, attempt, inode, contents } = Object(jsonIn(text)) as Partial<Record<keyof Mark, unknown>>;
  // Torn or edited: it proves nothing.
  if (typeof id !== 'string' || typeof inode !== 'string' || typeof contents !== 'string') return undefined;
  return Number.isSafeInteger(attempt) ? { id, attempt: Number(attempt), inode, contents } : undefined;
}

async function inodeOf(path: string): Promise<string | undefined> {
  return (await lstat(path, { bigint: true }).catch(ignoreMissing))?.ino.toString();
}

/** Names, sizes and times of all files: etcd writes to some of them as soon as it starts. */
async function contentsOf(directory: string): Promise<string> {
  const hash = createHash('sha256');
  for (const path of await filesIn(directory)) {
    const { size, mtimeNs } = await lstat(join(directory, path), { bigint: true });
    hash.update(`${JSON.stringify(path)} ${size} ${mtimeNs}\n`);
  }
  return hash.digest('hex');
}

async function filesIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(directory.length + 1)).toSorted();
}
