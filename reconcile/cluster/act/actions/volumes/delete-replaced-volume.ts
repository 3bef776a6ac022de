import { together } from '../../../../requests/program.ts';
import { moved } from '../../../know/outcome.ts';
import { listMembers } from '../../requests/membership.ts';
import { readPeer, readStatefulSet } from '../../requests/objects.ts';
import { readPod } from '../../requests/pods.ts';
import { deleteVolume, volumeAsSeen } from '../../requests/volumes.ts';
import { defineAction } from '../define.ts';

/**
 * Deletes the volume of a member that was given up and replaced, when it has been kept for as long as the spec says.
 *
 * Guards I4: its member is absent from a list that was read behind a barrier just now, of the cluster that it recorded,
 * or that took the place of that one; it says itself that it was released after a replacement, or left behind; nothing
 * of its member is left that may have it open. The resourceVersion closes the gap between that look and the deletion.
 */
export const deleteReplacedVolume = defineAction('delete-replaced-volume', {
  target: ({ volume }) => volume.name,
  *run({ volume, memberId, clusterId, gaveUp }) {
    const { name, uid } = volume;
    const listed = yield* listMembers({ clusterId });
    if (listed.some(({ id }) => id === memberId)) throw moved(`${name} (${memberId}) is a member still`);
    const found = yield* volumeAsSeen(volume);
    if (!found || found.leaving) return;
    const { record, readAt } = found;
    const isLeft = record.state === 'released' || (gaveUp !== undefined && record.state === 'superseded');
    const isIt = isLeft && record.memberId === memberId && record.clusterId === (gaveUp ?? clusterId);
    if (!isIt || record.replacedAt === undefined || record.evidence)
      throw moved(`volume ${name} must be kept since it was looked at`);
    const { peer, set, pod } = yield* together({
      peer: readPeer({ name }),
      set: readStatefulSet({ name }),
      pod: readPod({ name }),
    });
    if (peer || set || pod) throw moved(`an object of ${name} exists that may use its volume`);
    yield* deleteVolume({ uid, readAt });
  },
});
