import { isAspirant } from '../../../../../manifests/render/volume-record.ts';
import { type Program, together } from '../../../../requests/program.ts';
import { moved } from '../../../know/outcome.ts';
import { readStatefulSet } from '../../requests/objects.ts';
import { readPod } from '../../requests/pods.ts';
import { deletePeer } from '../../requests/removing.ts';
import { deleteVolume, type VolumeRead, volumeAsSeen } from '../../requests/volumes.ts';
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
    if (found && !isAspirant(found.record)) yield* requireLostUnstarted(found, volume.name);
    if (found && !found.leaving) yield* deleteVolume({ uid: found.uid, readAt: found.readAt });
    if (peer) yield* deletePeer(peer);
  },
});

/** Its data are there, and it was lost before the hand-over: without a StatefulSet no etcd was ever started on them. */
function* requireLostUnstarted({ record, lost, leaving }: VolumeRead, name: string): Program {
  const { state, gaveUp } = record;
  const { set, pod } = yield* together({ set: readStatefulSet({ name }), pod: readPod({ name }) });
  if (state !== 'restored' || !gaveUp || !(lost || leaving) || set || pod)
    throw moved(`volume ${name} is ${state} by now`);
}
