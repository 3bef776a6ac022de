import { type Program, together } from '../../../../requests/program.ts';
import type { Successor } from '../../../know/membership/successor.ts';
import { moved } from '../../../know/outcome.ts';
import { askMember, moveLeader } from '../../requests/leadership.ts';
import { livePeer, readStatefulSet } from '../../requests/objects.ts';
import { deletePod, evictPod, readOtherPods, readPod } from '../../requests/pods.ts';
import { defineAction } from '../define.ts';
import { clearToRun } from './going-back.ts';
import { requireOwnTemplate } from './own-template.ts';

/**
 * Lets the pod of one member go, so that its StatefulSet makes it anew from its template.
 *
 * Guards I1: read again just before, every other pod of the cluster is Ready, and this one is still the outdated pod
 * that was looked at; one that is cut off only waits for members that are on their way out. What is left of a member
 * that was removed, like a pod that its dead node never ends, does not count. Guards I6: onto a lower minor than it
 * runs only where that may go back.
 */
export const restartMember = defineAction('restart-member', {
  target: ({ pod }) => pod.name,
  *run({ pod: { name, uid }, by, cutOff, successor }) {
    const { peer, set, pod, others } = yield* together({
      peer: livePeer(name),
      set: readStatefulSet({ name }),
      pod: readPod({ name }),
      others: readOtherPods({ name }),
    });
    if (pod?.uid !== uid || pod.leaving) return;
    // An empty revision: its controller has not seen the template yet, and would make the same pod again.
    if (!set?.updateRevision || pod.revision === set.updateRevision) return;
    yield* clearToRun(name, pod, peer.inputs.version);
    const down = [...others.leaving, ...(cutOff ? [] : others.notReady)][0];
    if (down !== undefined) throw moved(`${down} is not Ready any more, so ${name} stays`);
    if (successor) yield* handOverLeadership(name, successor);
    const { readAt } = pod;
    yield* requireOwnTemplate(peer, set);
    yield* by === 'eviction' ? evictPod({ uid, readAt }) : deletePod({ uid, readAt });
  },
});

/**
 * Before the leader goes: without that, a write that is under way waits for an election, and the client's own deadline
 * may be shorter (a gap of 2 s instead of 0.05 s was measured). The member is asked itself, now: since it was looked
 * at, leadership may have moved.
 */
function* handOverLeadership(name: string, successor: Successor): Program {
  const member = yield* askMember({ name });
  if (member && member.leader === member.memberId) yield* moveLeader(successor);
}
