import { timestamp } from '../../../../time/timestamp.ts';
import { act, type Decision } from '../../../know/decision.ts';
import { hasLasted, needOfReplacement } from '../../../know/health/down.ts';
import { downFor, graceOf } from '../../../know/health/grace.ts';
import { isConvicted } from '../../../know/health/hashes.ts';
import { memberOf } from '../../../know/health/health.ts';
import { recordOf } from '../../../know/life.ts';
import { leads } from '../../../know/membership/leadership.ts';
import { approvalOfReplacement, healsByHand, replacementGiven } from '../../../know/membership/replacement-approval.ts';
import { hasHealthyQuorum, votersOf } from '../../../know/membership/voters.ts';
import type { Slot } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';
import { learnersFail } from '../../failed-joins.ts';
import { replacingInputs } from '../../held-version.ts';
import { holdHealing, type Lost } from '../../hold-healing.ts';
import { removalOf } from '../../removal.ts';
import { joiner } from './scale.ts';

/**
 * A voter that is down for longer than its grace period, for a cause that only a replacement cures, is replaced: first
 * the volume and the peer of the new member are recorded, which persists the intent, then the old member is removed
 * (`finish-removal`), then the new one joins (`join`). Not gated: a cluster that lacks a member is not healthy, and
 * this is the cure.
 *
 * A member whose data differ from the majority's gets no grace period: nothing cures it, and etcd may accept no writes
 * while it is there. A leader among several is replaced first: a new member copies the leader's data.
 *
 * Guards I9: a quorum of the others is healthy, each seen directly. Guards I2: one at a time, and never while a removal
 * is unfinished. A learner that was requested may still arrive, and is not waited for: etcd adds none beside a voter
 * that is down.
 *
 * Guards I14: with `spec.healing.mode: Manual` a person has approved exactly this member, before anything is recorded
 * and again before it is removed.
 */
export function heal(situation: Situation): Decision | undefined {
  const { membership, slots, life, effective } = situation;
  if (membership.kind === 'unknown' || life.stage !== 'born' || !hasHealthyQuorum(situation)) return undefined;
  const voters = votersOf(membership.members);
  const isCorrupt = (slot: Slot) => isConvicted(memberOf(slot, voters)?.id ?? '', situation);
  const [corrupt] = slots.filter(isCorrupt).toSorted((a, b) => Number(leads(b)) - Number(leads(a)));
  const dead = slots.filter((slot) => memberOf(slot, voters) && isDownForGood(slot, situation));
  const isApproved = (slot: Slot) => approvalFor(slot, situation) !== undefined;
  const down = corrupt ?? dead.find(isApproved) ?? dead[0];
  const member = down && memberOf(down, voters);
  if (!down || !member) return undefined;
  const why = needOfReplacement(down, situation) ?? '';
  const approval = approvalFor(down, situation);
  const comes = slots.some((slot) => recordOf(slot)?.state === 'joining') || voters.length < membership.members.length;
  // None asked for: the cluster hibernates with all members that it has.
  const wanted = effective.replicas === 0 ? voters.length : effective.replicas;
  if (healsByHand(situation) && approval === undefined) {
    const lost: Lost = { slot: down, member, why, isCorrupt: down === corrupt, isSpare: voters.length > wanted };
    return holdHealing(lost, membership.clusterId, situation);
  }
  if (!comes && voters.length <= wanted) return replacementOf(down, why, situation);
  return act(
    {
      ...removalOf(down, member, membership.clusterId, situation),
      ...(!corrupt && { replacedAt: timestamp(situation.at) }),
      ...(approval !== undefined && { approval }),
    },
    corrupt ? 'RemovingCorruptMember' : 'RemovingDeadMember',
    `removing ${down.name} from the member list, so that a replacement can join: ${why}`,
  );
}

/** What a person has given for exactly this member, where one is asked. */
function approvalFor(slot: Slot, situation: Situation): string | undefined {
  const { membership } = situation;
  const given = replacementGiven(situation);
  if (membership.kind === 'unknown' || given === undefined || !healsByHand(situation)) return undefined;
  const id = memberOf(slot, membership.members)?.id;
  if (id === undefined) return undefined;
  return given === approvalOfReplacement(membership.clusterId, id, slot, situation) ? given : undefined;
}

function isDownForGood(slot: Slot, situation: Situation): boolean {
  if (downFor(slot, situation) < graceOf(situation).member) return false;
  return needOfReplacement(slot, situation) !== undefined && hasLasted(slot, situation);
}

/** The replacement is recorded first: that persists the intent. */
export function replacementOf(
  down: Slot,
  why: string,
  situation: Situation,
  storage = situation.effective.inputs.storage,
): Decision | undefined {
  const inputs = replacingInputs(down, situation);
  const member = joiner(situation, inputs);
  if (!member) return undefined;
  const { name, record } = member;
  return (
    learnersFail(situation) ??
    act(
      { kind: 'prepare-members', members: [{ name, record }], inputs: { ...inputs, storage } },
      'ReplacingMember',
      `recording ${name} as the replacement of ${down.name}: ${why}`,
    )
  );
}
