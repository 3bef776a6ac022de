import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { downFor, graceOf } from '../down.ts';
import { ailmentOf, isIll, memberOf } from '../health.ts';
import { givenUpAt } from '../learners-time.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';
import { removalOf } from '../removal.ts';
import { votersOf } from '../voters.ts';

/**
 * A learner that has had its time ({@link givenUpAt}), or that the spec does not ask for any more, is removed, so that it holds up nothing
 * any longer. It has no vote: nobody misses it. Another one is tried, after ever longer pauses (`failed-joins.ts`).
 */
export function dropLearner(situation: Situation): Decision | undefined {
  const { membership, slots } = situation;
  if (membership.kind === 'unknown') return undefined;
  const learners = slots.filter((slot) => memberOf(slot, membership.members)?.isLearner && isOurs(slot));
  const failed = learners.find((slot) => hasHadItsTime(slot, situation));
  const unneeded = learners.find((slot) => isUnneeded(slot, situation));
  const learner = failed ?? unneeded;
  const member = learner && memberOf(learner, membership.members);
  if (!learner || !member) return undefined;
  const { reason = 'LearnerCatchingUp', message = `${learner.name} does not catch up` } =
    ailmentOf(learner, situation) ?? {};
  return act(
    removalOf(learner, member, membership.clusterId, situation),
    failed ? 'RemovingFailedLearner' : 'RemovingUnneededLearner',
    failed
      ? `removing the learner ${learner.name} again (${reason}): ${message}`
      : `removing the learner ${learner.name} again: the spec asks for no more members than vote already`,
  );
}

/** Its peer alone is left of it where somebody took its volume away. */
function isOurs(slot: Slot): boolean {
  return recordOf(slot) !== undefined || slot.peer?.current === true;
}

function hasHadItsTime(slot: Slot, situation: Situation): boolean {
  const at = givenUpAt(slot, situation);
  return at !== undefined && situation.at.getTime() >= at;
}

/** It would be a voter only to be removed again, and meanwhile nothing else may change. Who takes the place of an ill one is needed. */
function isUnneeded(slot: Slot, situation: Situation): boolean {
  const { membership, slots, effective } = situation;
  if (membership.kind === 'unknown' || downFor(slot, situation) < graceOf(situation).pod) return false;
  const voters = votersOf(membership.members);
  const well = slots.filter((other) => memberOf(other, voters) && !isIll(other, situation));
  return well.length === voters.length && voters.length >= effective.replicas;
}
