import { act, type Decision } from '../../../know/decision.ts';
import { downFor, graceOf } from '../../../know/health/grace.ts';
import { ailmentOf, isIll, memberOf } from '../../../know/health/health.ts';
import { recordOf } from '../../../know/life.ts';
import { givenUpAt } from '../../../know/membership/learners-time.ts';
import { votersOf } from '../../../know/membership/voters.ts';
import type { Slot } from '../../../know/observation.ts';
import { entryFor } from '../../../know/set-aside.ts';
import type { Situation } from '../../../know/situation.ts';
import { removalOf } from '../../removal.ts';
import { dropGhost } from './drop-ghost.ts';

/**
 * A learner that is no longer wanted, with a peer or without. It has no vote, so no data are lost with it. A removal
 * that was refused for good does not hold up the removal of another learner.
 */
export function dropLearner(situation: Situation): Decision | undefined {
  const decisions = [dropOurs(situation), dropGhost(situation)].flatMap((decision) => decision ?? []);
  return decisions.find((one) => one.kind !== 'act' || !entryFor(one.action, situation.refused)) ?? decisions[0];
}

/**
 * A learner whose time is over ({@link givenUpAt}), or for which the spec no longer asks, is removed, so that it holds
 * up nothing. It has no vote. Another one is tried, after longer and longer pauses (`failed-joins.ts`).
 */
function dropOurs(situation: Situation): Decision | undefined {
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
      ? `removing the learner ${learner.name} (${reason}): ${message}`
      : `removing the learner ${learner.name}: the spec asks for no more members than vote already`,
  );
}

/** Where its volume was deleted, only its peer is left. */
function isOurs(slot: Slot): boolean {
  return recordOf(slot) !== undefined || slot.peer?.current === true;
}

function hasHadItsTime(slot: Slot, situation: Situation): boolean {
  const at = givenUpAt(slot, situation);
  return at !== undefined && situation.at.getTime() >= at;
}

/**
 * It would become a voter only to be removed again, and would hold up other changes meanwhile. A learner that replaces
 * an ill voter is needed.
 */
function isUnneeded(slot: Slot, situation: Situation): boolean {
  const { membership, slots, effective } = situation;
  if (membership.kind === 'unknown' || downFor(slot, situation) < graceOf(situation).pod) return false;
  const voters = votersOf(membership.members);
  const well = slots.filter((other) => memberOf(other, voters) && !isIll(other, situation));
  return well.length === voters.length && voters.length >= effective.replicas;
}
