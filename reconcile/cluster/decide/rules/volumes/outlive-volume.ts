import { act, type Decision } from '../../../know/decision.ts';
import { ailmentOf, goesWithItsVolume, hearsLeader, memberOf } from '../../../know/health/health.ts';
import { recordOf } from '../../../know/life.ts';
import { quorumOf } from '../../../know/membership/quorum.ts';
import { servingVoters, votersOf } from '../../../know/membership/voters.ts';
import type { Slot } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';
import { removalOf } from '../../removal.ts';
import { replacementOf } from '../membership/heal.ts';

/**
 * If a serving member's PVC is deleted, the member has its data only as long as its pod runs. It keeps voting until its
 * replacement votes, and is removed only then. No grace period: a deletion cannot be taken back.
 *
 * Guards I9: the members that stay are a quorum that serves, each seen directly. Guards I1: while another voter starts,
 * they are more than that, for one may die between this look and the removal. Guards I2: one at a time.
 */
export function outliveVolume(situation: Situation): Decision | undefined {
  const { membership, slots, life, effective } = situation;
  // No members asked for: no replacement is made for a cluster that stops; `heal` handles what is lost with it.
  if (membership.kind === 'unknown' || life.stage !== 'born' || effective.replicas === 0) return undefined;
  const voters = votersOf(membership.members);
  const serving = servingVoters(situation);
  const leaver = serving.find((slot) => goesWithItsVolume(slot, situation));
  const member = leaver && memberOf(leaver, voters);
  if (!leaver || !member || serving.length < quorumOf(voters.length)) return undefined;
  // An outdated invocation may have added a learner, too: it may still arrive, and the list changes one member at a
  // time (`join`, `dropLearner`).
  if (voters.length < membership.members.length || slots.some(isJoining)) return undefined;
  const why = `volume ${leaver.name} is being deleted and disappears with its pod`;
  if (voters.length > effective.replicas) {
    if (serving.length - 1 < quorumOf(voters.length - 1)) return undefined;
    // A voter that starts becomes the one to spare. `gate` waits for it, and says what to do if it stays so.
    const hasNoneToSpare = serving.length - 1 === quorumOf(voters.length - 1);
    if (hasNoneToSpare && slots.some((slot) => memberOf(slot, voters) && isAboutToServe(slot, situation)))
      return undefined;
    return act(
      removalOf(leaver, member, membership.clusterId, situation),
      'RemovingMember',
      `removing ${leaver.name} from the member list: ${why}, and another one votes in its place`,
    );
  }
  // Nothing is lost yet: this is also how a person moves members to another storage class.
  return replacementOf(leaver, why, situation, effective.newStorage);
}

function isJoining(slot: Slot): boolean {
  return recordOf(slot)?.state === 'joining';
}

/** It votes and hears a leader; only its pod is not Ready yet. */
function isAboutToServe(slot: Slot, situation: Situation): boolean {
  return hearsLeader(slot) && ailmentOf(slot, situation)?.reason === 'MemberStarting';
}
