import type { Restart } from '../know/actions/rolling.ts';
import { isAdopting } from '../know/adoption/inherited.ts';
import { successorOf } from '../know/membership/leadership.ts';
import { votersOf } from '../know/membership/voters.ts';
import type { Slot } from '../know/observation.ts';
import type { Situation } from '../know/situation.ts';

/**
 * How the pod of a member is ended for a restart. Leadership is handed over first. The disruption budget decides,
 * except in a cluster of one or two members: no restart there can keep the quorum, so the pod is deleted. While members
 * of another origin vote, the pod is deleted too: the budget counts them and none of their pods, so it may let none
 * of ours go; and with those that it lets go, the others are still a quorum.
 */
export function restartOf(slot: Slot, situation: Situation): Restart | undefined {
  const { name, pod } = slot;
  if (!pod) return undefined;
  const successor = successorOf(slot, situation);
  return {
    pod: { name, uid: pod.uid },
    by: interrupts(situation) || isAdopting(situation) ? 'deletion' : 'eviction',
    ...(successor && { successor }),
  };
}

/** For people: what a restart means to a cluster of this size. */
export function meanwhile(situation: Situation): string {
  return interrupts(situation) ? '; a cluster of this size does not serve meanwhile' : '';
}

function interrupts({ membership }: Situation): boolean {
  return membership.kind === 'known' && votersOf(membership.members).length < 3;
}
