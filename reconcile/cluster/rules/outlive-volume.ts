import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { goesWithItsVolume, memberOf } from '../health.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';
import { quorumOf } from '../quorum.ts';
import { removalOf } from '../removal.ts';
import { servingVoters, votersOf } from '../voters.ts';
import { replacementOf } from './heal.ts';

/**
 * A voter whose claim is being deleted has its data for as long as its pod runs, and not a moment longer. It goes on voting until
 * another one has joined and votes in its place; only then it leaves. No grace: a deletion can't be taken back.
 *
 * Guards I9: those that stay are a quorum that serves, each seen so by itself. Guards I2: one at a time.
 */
export function outliveVolume(situation: Situation): Decision | undefined {
  const { membership, slots, life, effective } = situation;
  // None asked for: nobody is made for a cluster that is to stop, and heal sees to what is lost with it.
  if (membership.kind === 'unknown' || life.stage !== 'born' || effective.replicas === 0) return undefined;
  const voters = votersOf(membership.members);
  const serving = servingVoters(situation);
  const leaver = serving.find((slot) => goesWithItsVolume(slot, situation));
  const member = leaver && memberOf(leaver, voters);
  if (!leaver || !member || serving.length < quorumOf(voters.length)) return undefined;
  // Asked for, also by somebody who froze: it may come still, and the list is changed for one at a time (`join`, `dropLearner`).
  if (voters.length < membership.members.length || slots.some(isJoining)) return undefined;
  const why = `volume ${leaver.name} is being deleted and goes with its pod`;
  if (voters.length > effective.replicas) {
    if (serving.length - 1 < quorumOf(voters.length - 1)) return undefined;
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
