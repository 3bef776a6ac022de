import { timestamp } from '../conditions.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { downFor, graceOf, hasLasted, needOfReplacement } from '../down.ts';
import { learnersFail } from '../failed-joins.ts';
import { isConvicted } from '../hashes.ts';
import { memberOf } from '../health.ts';
import { leads } from '../leadership.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';
import { removalOf } from '../removal.ts';
import { hasHealthyQuorum, votersOf } from '../voters.ts';
import { joiner } from './scale.ts';

/**
 * A voter that is down for longer than its grace, for a cause that only a new member cures, is replaced: first volume and peer of
 * the new one are recorded, which is what remembers it, then the old one is removed (`finish-removal`), then the new one joins
 * (`join`). Not gated: a cluster that lacks a member is not well, and this is the cure.
 *
 * One that holds other data than most agree on gets no grace: nothing will cure it, and etcd may take no writes for as long as it is
 * there. A leader among several goes first: whoever joins is given the leader's data.
 *
 * Guards I9: a quorum of the others is healthy, each seen so by itself. Guards I2: one at a time, and never while a removal is
 * unfinished. A learner that was asked for may still come, and is not waited for: etcd adds none beside a voter that is down.
 */
export function heal(situation: Situation): Decision | undefined {
  const { membership, slots, life, effective } = situation;
  if (membership.kind === 'unknown' || life.stage !== 'born' || !hasHealthyQuorum(situation)) return undefined;
  const voters = votersOf(membership.members);
  const isCorrupt = (slot: Slot) => isConvicted(memberOf(slot, voters)?.id ?? '', situation);
  const [corrupt] = slots.filter(isCorrupt).toSorted((a, b) => Number(leads(b)) - Number(leads(a)));
  const down = corrupt ?? slots.find((slot) => memberOf(slot, voters) && isDownForGood(slot, situation));
  const member = down && memberOf(down, voters);
  if (!down || !member) return undefined;
  const why = needOfReplacement(down, situation) ?? '';
  const comes = slots.some((slot) => recordOf(slot)?.state === 'joining') || voters.length < membership.members.length;
  // None asked for: it is to hibernate as it is, whole.
  const wanted = effective.replicas === 0 ? voters.length : effective.replicas;
  if (!comes && voters.length <= wanted) return replacementOf(down, why, situation);
  return act(
    {
      ...removalOf(down, member, membership.clusterId, situation),
      ...(!corrupt && { replacedAt: timestamp(situation.at) }),
    },
    corrupt ? 'RemovingCorruptMember' : 'RemovingDeadMember',
    `removing ${down.name} from the member list, to make room for a new one: ${why}`,
  );
}

function isDownForGood(slot: Slot, situation: Situation): boolean {
  if (downFor(slot, situation) < graceOf(situation).member) return false;
  return needOfReplacement(slot, situation) !== undefined && hasLasted(slot, situation);
}

/** The one that is to come is recorded first: that is what remembers it. */
export function replacementOf(
  down: Slot,
  why: string,
  situation: Situation,
  storage = situation.effective.inputs.storage,
): Decision | undefined {
  const member = joiner(situation);
  if (!member) return undefined;
  const { name, record } = member;
  return (
    learnersFail(situation) ??
    act(
      { kind: 'prepare-members', members: [{ name, record }], inputs: { ...situation.effective.inputs, storage } },
      'ReplacingMember',
      `recording ${name}, which is to take the place of ${down.name}: ${why}`,
    )
  );
}
