import { isHigher, isVersion } from '../../../manifests/api/version.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { ailmentOf, isIll } from '../health.ts';
import { leads, successorOf } from '../leadership.ts';
import type { Slot } from '../observation.ts';
import { unknownAmong, votersOf } from '../voters.ts';

/**
 * A member that runs on an older template than its StatefulSet has is started anew, one at a time, while all others are
 * healthy. A crash, or a pod that became Ready in the last moment, left it half-rolled. That the template is the one to
 * have is seen to further up (`cureConfiguration`). A voter of which nothing is left but its place on the list is not healthy.
 *
 * The leader comes last, and hands leadership over before it goes.
 *
 * Guards I1: the disruption budget has the last word, except for a cluster of one or two members, which can't lose one
 * and keep its quorum whatever is done: there the pod is deleted, and the message says so.
 */
export function finishRolling(situation: Situation): Decision | undefined {
  const { slots, membership } = situation;
  if (membership.kind === 'unknown') return undefined;
  const voters = votersOf(membership.members);
  // The gate names it, and its cure. The disruption budget counts it, and would refuse each eviction.
  if (unknownAmong(voters, slots)) return undefined;
  if (slots.some((slot) => isIll(slot, situation))) return undefined;
  const outdated = slots.filter((slot) => ailmentOf(slot, situation) !== undefined);
  const half = outdated.find((slot) => !leads(slot)) ?? outdated[0];
  if (!half?.pod) return undefined;
  const { name, pod } = half;
  const successor = successorOf(half, situation);
  const interrupts = voters.length < 3;
  const meanwhile = interrupts ? '; a cluster of this size does not serve meanwhile' : '';
  const [reason, what] = reasonFor(half);
  return act(
    {
      kind: 'restart-member',
      pod: { name, uid: pod.uid },
      by: interrupts ? 'deletion' : 'eviction',
      ...(successor && { successor }),
    },
    reason,
    `starting ${name} anew on ${what}${meanwhile}`,
  );
}

function reasonFor({ peer, pod }: Slot): readonly [reason: string, what: string] {
  const version = peer?.inputs.version;
  if (!isVersion(version) || !isVersion(pod?.version) || version === pod.version) {
    return ['FinishingRolling', 'the template that it should have'];
  }
  const goesUp = isHigher(version, pod.version);
  return [goesUp ? 'UpgradingMember' : 'RollingBackVersion', `etcd ${version}`];
}
