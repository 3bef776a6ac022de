import { lstat, readdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissing } from './files.ts';

/** What a volume has, and what a directory takes of it. */

export async function isDirectory(path: string): Promise<boolean> {
  return (await lstat(path).catch(ignoreMissing))?.isDirectory() ?? false;
}

/** What it takes on the disk, in bytes: etcd's files have holes and are made longer than they are filled. */
export async function takenBy(directory: string): Promise<number> {
  let size = 0;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const { blocks } = await lstat(join(entry.parentPath, entry.name));
    size += blocks * 512;
  }
  return size;
}

/** What an ordinary user may still write where this directory lies, in bytes. */
export async function freeOn(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

export function inMiB(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}
