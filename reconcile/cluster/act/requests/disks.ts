import type { PersistentVolume, PersistentVolumeClaim } from '../../../../manifests/kube-types.ts';
import { isSameDisk, type SealedDisk } from '../../../../manifests/render/sealed-disk.ts';
import { isReason, type Kube, resources } from '../../../interfaces/kube.ts';
import { sealedDiskOf } from '../../know/volumes/sealed-disk.ts';
import { readDisk } from '../../observe/read-disks.ts';
import type { ReadAt } from './read-at.ts';
import { defineRequest } from './request.ts';

/** The disks behind PVCs. */

interface OfVolume {
  readonly readAt: ReadAt;
}

/**
 * For its volume to remember; the handle where PersistentVolumes may be read. `undefined`: nothing is behind it yet.
 */
export const readDiskBehind = defineRequest('readDiskBehind', {
  words: ({ readAt: { name } }: OfVolume) => `reads which disk is behind volume ${name}`,
  live: async ({ readAt }, { kube, kept, signal }): Promise<SealedDisk | undefined> => {
    const { volumeName } = kept<PersistentVolumeClaim>(readAt).spec;
    if (!volumeName) return undefined;
    return sealedDiskOf({ ...(await readDisk(kube, volumeName, signal)), homes: 'unknown' });
  },
  model: (state, { readAt: { name } }, host) => {
    const disk = host.get(state, name, 'volume')?.disk;
    return { state, answer: disk && sealedDiskOf(disk) };
  },
});

/**
 * Whether what is behind a PVC at this moment is this disk. By its handle where that was noted: a PersistentVolume may
 * come back under its name with another disk, and the same disk under another name. What we may not read is told by its
 * name.
 */
export const isOnDisk = defineRequest('isOnDisk', {
  words: ({ readAt: { name } }: OfVolume & { readonly disk: SealedDisk }) =>
    `sees whether volume ${name} is on the disk that it was sealed on`,
  live: async ({ readAt, disk }, { kube, kept, signal }): Promise<boolean> => {
    const pv = kept<PersistentVolumeClaim>(readAt).spec.volumeName;
    if (!pv) return false;
    const handle = disk.handle === undefined ? undefined : await handleOf(kube, pv, signal);
    return isSameDisk(disk, { pv, ...(handle !== undefined && { handle }) });
  },
  model: (state, { readAt: { name }, disk }, host) => {
    const found = host.get(state, name, 'volume')?.disk;
    return { state, answer: found !== undefined && isSameDisk(disk, sealedDiskOf(found)) };
  },
});

/** `null`: it has none. @throws {KubeError} where it may be read, and is not answered: then nothing is known. */
async function handleOf(kube: Kube, pv: string, signal: AbortSignal): Promise<string | null | undefined> {
  try {
    const found = await kube.get<PersistentVolume>(resources.persistentVolumes, undefined, pv, { signal });
    return found && (found.spec?.csi?.volumeHandle ?? null);
  } catch (error) {
    if (isReason(error, 'Forbidden')) return undefined;
    throw error;
  }
}
