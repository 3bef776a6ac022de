import { together } from '../../../../requests/program.ts';
import { moved } from '../../../know/outcome.ts';
import { livePeer, readStatefulSet } from '../../requests/objects.ts';
import { deletePod, readPod } from '../../requests/pods.ts';
import { defineAction } from '../define.ts';
import { clearToRun } from '../rolling/going-back.ts';
import { requireOwnTemplate } from '../rolling/own-template.ts';

/**
 * Deletes a pod that is not Ready; its volume and its member stay.
 *
 * Guards I1: read again just before, it is the pod that was looked at, and it is still not Ready. Guards I6: its
 * template may say a lower minor than it ran.
 */
export const recreatePod = defineAction('recreate-pod', {
  target: ({ pod }) => pod.name,
  *run({ pod: { name, uid } }) {
    const { peer, set, pod } = yield* together({
      peer: livePeer(name),
      set: readStatefulSet({ name }),
      pod: readPod({ name }),
    });
    if (pod?.uid !== uid || pod.leaving) return;
    if (pod.ready) throw moved(`${name} has become Ready`);
    yield* clearToRun(name, pod, peer.inputs.version);
    if (set) yield* requireOwnTemplate(peer, set);
    yield* deletePod({ uid, readAt: pod.readAt });
  },
});
