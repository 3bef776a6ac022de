import { isSameDisk, type SealedDisk } from '../../../manifests/build/sealed-disk.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../manifests/kube-types.ts';
import { isReason, type Kube, resources } from '../../kube.ts';
import { moved } from '../outcome.ts';
import { readDisk } from '../read-disks.ts';
import type { ActContext, LiveVolume } from './context.ts';

/** What is behind a claim, for its volume to remember; the handle where PersistentVolumes may be read. */
export async function diskBehind(
  { spec }: PersistentVolumeClaim,
  { kube, signal }: ActContext,
): Promise<SealedDisk | undefined> {
  if (!spec.volumeName) return undefined;
  const { handle } = await readDisk(kube, spec.volumeName, signal);
  return { pv: spec.volumeName, ...(handle !== undefined && { handle }) };
}

/**
 * Guards I5: what is behind the claim at this moment is what its member was sealed on.
 *
 * @throws {StepError} when it is another disk, or none yet.
 */
export async function requireSealedDisk({ claim, record }: LiveVolume, context: ActContext): Promise<void> {
  if (!(await isSealedDisk({ claim, record }, context)))
    throw moved(`volume ${claim.metadata.name} has another disk than it was sealed on`);
}

/**
 * Also where nobody noted which that was. By its handle where that was noted: a PersistentVolume may come back under its name with another
 * disk, and the same disk under another name. What we may not read is told by its name.
 */
export async function isSealedDisk({ claim, record }: LiveVolume, { kube, signal }: ActContext): Promise<boolean> {
  const { disk } = record;
  const pv = claim.spec.volumeName;
  if (!disk) return true;
  if (!pv) return false;
  const handle = disk.handle === undefined ? undefined : await handleOf(kube, pv, signal);
  return isSameDisk(disk, { pv, ...(handle !== undefined && { handle }) });
}

/** @throws {KubeError} where it may be read, and is not answered: then nothing is known. */
async function handleOf(kube: Kube, pv: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const found = await kube.get<PersistentVolume>(resources.persistentVolumes, undefined, pv, { signal });
    return found?.spec?.csi?.volumeHandle;
  } catch (error) {
    if (isReason(error, 'Forbidden')) return undefined;
    throw error;
  }
}
