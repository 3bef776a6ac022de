import { goesWithItsVolume, isIll, memberOf, type Seen } from './health.ts';
import type { Slot } from './observation.ts';

export interface Successor {
  readonly clusterId: string;
  readonly name: string;
  readonly memberId: string;
}

export function leads({ endpoint }: Slot): boolean {
  return endpoint.kind === 'known' && endpoint.status.leader === endpoint.status.memberId;
}

/**
 * Who should lead when this member goes: a healthy voter, the one that has the most of raft's log. Absent where there is none,
 * as in a cluster of one.
 */
export function successorOf(slot: Slot, seen: Seen): Successor | undefined {
  const { membership, slots } = seen;
  if (membership.kind === 'unknown') return undefined;
  const able = slots.flatMap((other) => {
    const member = memberOf(other, membership.members);
    if (other === slot || !member || member.isLearner || other.endpoint.kind === 'unknown') return [];
    // Whose volume is about to go serves until then: better than nobody.
    const goes = goesWithItsVolume(other, seen);
    if (isIll(other, seen) && !goes) return [];
    return [{ goes, name: other.name, memberId: member.id, log: other.endpoint.status.raftAppliedIndex }];
  });
  const [best] = able.toSorted((a, b) => Number(a.goes) - Number(b.goes) || Number(b.log - a.log));
  return best && { clusterId: membership.clusterId, name: best.name, memberId: best.memberId };
}
