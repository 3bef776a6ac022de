import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { downFor, graceOf } from '../down.ts';
import { ailmentOf, memberOf } from '../health.ts';
import { recordOf } from '../life.ts';
import { removalOf } from '../removal.ts';

/** A learner that answers is being sent the data, which may be a lot. */
const catchingUp = 6;

/**
 * A learner that has not started, or not caught up, within the grace of a member (six times that while it answers), is removed, so
 * that it holds up nothing any longer. It has no vote: nobody misses it. Another one is tried once; after that a person must look.
 */
export function dropLearner(situation: Situation): Decision | undefined {
  const { membership, slots } = situation;
  if (membership.kind === 'unknown') return undefined;
  const learner = slots.find((slot) => {
    const member = memberOf(slot, membership.members);
    const patience = graceOf(situation).member * (slot.endpoint.kind === 'known' ? catchingUp : 1);
    // Its peer alone is left of it where somebody took its volume away.
    const isOurs = recordOf(slot) !== undefined || slot.peer?.current;
    return member?.isLearner && isOurs && downFor(slot, situation) >= patience;
  });
  const member = learner && memberOf(learner, membership.members);
  if (!learner || !member) return undefined;
  const why = ailmentOf(learner, situation)?.message ?? `${learner.name} does not catch up`;
  return act(
    removalOf(learner, member, membership.clusterId, situation),
    'RemovingFailedLearner',
    `removing the learner ${learner.name} again: ${why}`,
  );
}
