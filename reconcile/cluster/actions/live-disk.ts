import { isSameDisk, type SealedDisk } from '../../../manifests/build/sealed-disk.ts';
import type { PersistentVolumeClaim } from '../../../manifests/kube-types.ts';
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

/** Also where nobody noted which that was. */
export async function isSealedDisk({ claim, record }: LiveVolume, context: ActContext): Promise<boolean> {
  const { disk } = record;
  if (!disk || disk.pv === claim.spec.volumeName) return true;
  // Only by its handle it can be the same.
  const found = disk.handle === undefined ? undefined : await diskBehind(claim, context);
  return found?.handle !== undefined && isSameDisk(disk, found);
}
