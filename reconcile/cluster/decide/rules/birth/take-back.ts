import { act, type Decision } from '../../../know/decision.ts';
import { memberOf } from '../../../know/health/health.ts';
import { recordOf } from '../../../know/life.ts';
import { hasHealthyQuorum } from '../../../know/membership/voters.ts';
import type { Slot } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';
import { removalOf } from '../../removal.ts';

/**
 * A birth was recorded with more members than the spec now asks for, and some of them never answered: they are removed
 * from the list, the highest ordinal first, as any member is. Their volumes are sealed by that, so that none starts
 * late on an empty disk. When no unstarted member is left, the birth is over, and `finish-removal` deletes their
 * objects.
 *
 * Guards I1 and I5: the recorded list was never another one; a quorum of *all* members on it is healthy, and a quorum
 * of the others when etcd is asked again. Guards I2: one at a time. A member that is already marked is removed before
 * all others, because its removal may have been sent.
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
    `removing ${slot.name} from the member list: it never started, and the spec asks for only ${wanted} members`,
  );
}

/** Recorded for its first start, and never seen running: else it would be sealed. */
function isUnborn(slot: Slot): boolean {
  return recordOf(slot)?.state === 'bootstrapping' && slot.endpoint.kind === 'unknown';
}
