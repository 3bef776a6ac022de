import type { ListedMember } from '../../../interfaces/etcd.ts';
import { inheritedIn, isWell as isWellInherited } from '../adoption/inherited.ts';
import { goesWithItsVolume, hearsLeader, memberOf, type Seen, serves } from '../health/health.ts';
import type { Slot } from '../observation.ts';
import { quorumOf } from './quorum.ts';

/** Members that have a vote. A learner has none. */
export function votersOf(members: readonly ListedMember[]): readonly ListedMember[] {
  return members.filter(({ isLearner }) => !isLearner);
}

/**
 * On etcd's list, without an EtcdPeer, and no member of a cluster that is taken over: nothing can tell whether it is
 * healthy.
 */
export function unknownAmong(members: readonly ListedMember[], seen: Seen): ListedMember | undefined {
  const ours = new Set(seen.slots.map((slot) => memberOf(slot, members)?.id));
  for (const { member } of inheritedIn(seen)) ours.add(member.id);
  return members.find(({ id }) => !ours.has(id));
}

/** Voters that are healthy, or would be if their PVCs were not being deleted. */
export function servingVoters(situation: Seen): readonly Slot[] {
  const { membership, slots } = situation;
  if (membership.kind === 'unknown') return [];
  const voters = votersOf(membership.members);
  return slots.filter(
    (slot) => memberOf(slot, voters) && (serves(slot, situation) || goesWithItsVolume(slot, situation)),
  );
}

/** Whether the other voters are a quorum of themselves: so many answer, each seen directly, and follow a leader. */
export function isQuorumWithout(memberId: string, situation: Seen): boolean {
  const { membership, slots } = situation;
  if (membership.kind === 'unknown') return false;
  const others = votersOf(membership.members).filter(({ id }) => id !== memberId);
  const ours = slots.filter((slot) => memberOf(slot, others) && hearsLeader(slot));
  const inherited = inheritedIn(situation).filter((one) => others.includes(one.member) && isWellInherited(one));
  return others.length > 0 && ours.length + inherited.length >= quorumOf(others.length);
}

/** Whether enough voters serve, each seen directly, to be a quorum of all: another one may be spared then. */
export function hasHealthyQuorum(situation: Seen): boolean {
  const { membership, slots } = situation;
  if (membership.kind === 'unknown') return false;
  const voters = votersOf(membership.members);
  const isWell = (slot: Slot) => memberOf(slot, voters) !== undefined && serves(slot, situation);
  const others = inheritedIn(situation).filter((one) => !one.member.isLearner && isWellInherited(one));
  return slots.filter(isWell).length + others.length >= quorumOf(voters.length);
}
