import { inheritedIn, isWell } from '../adoption/inherited.ts';
import { goesWithItsVolume, isIll, memberOf, type Seen } from '../health/health.ts';
import type { Slot } from '../observation.ts';
import type { Successor } from './successor.ts';

export function leads({ endpoint }: Slot): boolean {
  return endpoint.kind === 'known' && endpoint.status.leader === endpoint.status.memberId;
}

/**
 * The next leader when this member stops: a healthy voter, the one with the most of raft's log. Absent where there is
 * none, as in a cluster of one. A member that is inherited leads only where none of ours could.
 */
export function successorOf(slot: Slot, seen: Seen): Successor | undefined {
  return bestOf(slot, seen) ?? inheritedSuccessor(seen);
}

/** The same when a member leaves that has no place. */
export function successorAmongOurs(seen: Seen): Successor | undefined {
  return bestOf(undefined, seen);
}

function inheritedSuccessor(seen: Seen): Successor | undefined {
  const { membership } = seen;
  const best = inheritedIn(seen).find((one) => !one.member.isLearner && isWell(one));
  if (!best || membership.kind === 'unknown') return undefined;
  return { clusterId: membership.clusterId, name: best.member.name, memberId: best.member.id };
}

function bestOf(slot: Slot | undefined, seen: Seen): Successor | undefined {
  const { membership, slots } = seen;
  if (membership.kind === 'unknown') return undefined;
  const able = slots.flatMap((other) => {
    const member = memberOf(other, membership.members);
    if (other === slot || !member || member.isLearner || other.endpoint.kind === 'unknown') return [];
    // A member whose PVC is being deleted serves until its pod ends: better than no successor.
    const goes = goesWithItsVolume(other, seen);
    if (isIll(other, seen) && !goes) return [];
    return [{ goes, name: other.name, memberId: member.id, log: other.endpoint.status.raftAppliedIndex }];
  });
  const [best] = able.toSorted((a, b) => Number(a.goes) - Number(b.goes) || Number(b.log - a.log));
  return best && { clusterId: membership.clusterId, name: best.name, memberId: best.memberId };
}
