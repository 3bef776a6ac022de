import { isAspirant } from '../../../../../manifests/render/volume-record.ts';
import { moved } from '../../../know/outcome.ts';
import { deletePeer } from '../../requests/removing.ts';
import { deleteVolume, volumeAsSeen } from '../../requests/volumes.ts';
import { defineAction } from '../define.ts';

/**
 * Takes back a rollback that was begun: the volume, then the peer with its Job.
 *
 * Guards I4: no etcd ever started on that volume, and none may, as long as it says that a snapshot is restored to it.
 * The resourceVersion closes the gap between that look and the deletion. The peer, whose UID never changes, goes after
 * it: an outdated invocation would else stop the member, where the rollback was approved again and is over.
 */
export const callOffRollback = defineAction('call-off-rollback', {
  target: ({ name }) => name,
  *run({ peer, volume }) {
    const found = volume && (yield* volumeAsSeen(volume));
    if (found && !isAspirant(found.record)) throw moved(`volume ${volume.name} is ${found.record.state} by now`);
    if (found && !found.leaving) yield* deleteVolume({ uid: found.uid, readAt: found.readAt });
    if (peer) yield* deletePeer(peer);
  },
});
