import { annotations } from '../../../manifests/build/names.ts';
import type { VolumeRecord } from '../../../manifests/build/volume-record.ts';
import type { ActionOf } from '../actions.ts';
import { moved } from '../outcome.ts';
import { type ActContext, volumeAsSeen } from './context.ts';
import { followRecord } from './follow-volumes.ts';
import { diskBehind } from './live-disk.ts';
import { writeRecord } from './volume-state.ts';

/**
 * As a person approved: what is behind these claims by now counts as what their members were sealed on. Whoever dies in between leaves
 * whole notes, and the approval fits the rest.
 *
 * Guards I5: the approval is there still, and each claim has the disk that it was given for.
 */
export async function acceptDisks(action: ActionOf<'accept-disks'>, context: ActContext): Promise<void> {
  const { approval, clusterId, volumes } = action;
  if (context.cluster.metadata.annotations?.[annotations.acceptDisks] !== approval)
    throw moved('the approval was taken back');
  for (const volume of volumes) {
    const found = await volumeAsSeen(context, volume);
    if (!found || found.claim.metadata.deletionTimestamp !== undefined)
      throw moved(`volume ${volume.name} has gone since it was looked at`);
    const { claim, record } = found;
    if (record.memberId !== volume.memberId || record.clusterId !== clusterId)
      throw moved(`volume ${volume.name} is that of member ${record.memberId ?? 'unknown'}`);
    const disk = await diskBehind(claim, context);
    if (disk?.pv !== volume.pv) throw moved(`volume ${volume.name} has another disk than was approved`);
    const { disk: _, ...rest } = record;
    const accepted: VolumeRecord = { ...rest, ...(disk && { disk }) };
    await followRecord({ claim: await writeRecord(claim, accepted, context), record: accepted }, context);
  }
}
