import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { run } from './command.ts';
import { parseQuantity } from './quantity.ts';
import type { PersistentVolume } from './wire.ts';

/**
 * Volumes with a file system of their own, which is full when they are. The others are directories of one file system:
 * their size is a number. In memory: what is in use of it counts.
 */

const mark = 'process-node.ratchet.dev/bounded';

/** The annotation of such a PersistentVolume. */
export const boundedMark = { [mark]: 'true' } as const;

/** As kubelet does before it binds the volume into a container: makes the file system, or grows it to its size. */
export async function fitFileSystem(
  volume: PersistentVolume,
  capacity = volume.spec?.capacity?.storage ?? '0',
): Promise<void> {
  const path = boundedPath(volume);
  if (path === undefined) return;
  const size = `size=${parseQuantity(capacity)}`;
  if (await isMounted(path)) await run('mount', ['-o', `remount,${size}`, path]);
  else await run('mount', ['-t', 'tmpfs', '-o', `${size},mode=0777`, volume.metadata.name, path]);
}

/** With all that is in it. */
export async function dropFileSystem(volume: PersistentVolume): Promise<void> {
  const path = boundedPath(volume);
  if (path !== undefined && (await isMounted(path))) await run('umount', [path]);
}

function boundedPath({ metadata, spec }: PersistentVolume): string | undefined {
  return metadata.annotations?.[mark] === undefined ? undefined : spec?.local?.path;
}

/** Whether something is mounted on it. @throws when it is not there */
export async function isMounted(path: string): Promise<boolean> {
  const [own, around] = await Promise.all([stat(path), stat(dirname(path))]);
  return own.dev !== around.dev;
}
