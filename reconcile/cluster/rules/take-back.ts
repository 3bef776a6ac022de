import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { memberOf } from '../health.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';
import { removalOf } from '../removal.ts';
import { hasHealthyQuorum } from '../voters.ts';

/**
 * A birth was recorded with more members than the spec asks for by now, and some of them never answered: they leave the list, the
 * highest number first, as any member does. What their volumes say then seals them, so that none starts late on an empty disk; when
 * nobody is left who is still to be born, the birth is over, and `finish-removal` lets go what they had.
 *
 * Guards I1 and I5: the recorded list was never another one; a quorum of *all* on it is healthy, and of the others when it is asked again.
 * Guards I2: one at a time. One that was marked goes before all others, because its removal may have been sent.
 */
export function takeBack(situation: Situation): Decision | undefined {
  const { life, membership, cluster, slots } = situation;
  const wanted = cluster.spec.replicas;
  if (life.stage !== 'birth' || membership.kind === 'unknown' || wanted === 0) return undefined;
  const { members, clusterId } = membership;
  const listed = slots.filter((slot) => memberOf(slot, members) !== undefined);
  const begun = listed.find((slot) => recordOf(slot)?.state === 'releasing');
  const [unborn] = listed.filter(isUnborn).toSorted((a, b) => b.ordinal - a.ordinal);
  const slot = begun ?? (members.length > wanted ? unborn : undefined);
  const member = slot && memberOf(slot, members);
  if (!slot || !member || !hasHealthyQuorum(situation)) return undefined;
  return act(
    removalOf(slot, member, clusterId, situation),
    'TakingBackMember',
    `taking ${slot.name} off the member list: it never started, and the spec asks for ${wanted} members by now`,
  );
}

/** Recorded for its first start, and not seen to have made it: else it would be sealed. */
function isUnborn(slot: Slot): boolean {
  return recordOf(slot)?.state === 'bootstrapping' && slot.endpoint.kind === 'unknown';
}
