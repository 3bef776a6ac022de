import type { Situation } from '../decide.ts';
import { type Decision, refuse, wait } from '../decision.ts';
import { needOfReplacement, wasRemovedByOthers } from '../down.ts';
import { ailmentOf, memberOf } from '../health.ts';
import type { Slot } from '../observation.ts';
import { personsAilment } from '../persons-ailment.ts';
import { whatStays } from '../staying.ts';
import { hasHealthyQuorum, unknownAmong } from '../voters.ts';

/**
 * Everything below this rule changes a cluster that works, and needs every member healthy and a voter.
 *
 * Guards I1: a member is only ever taken out while all the others are there.
 */
export function gate(situation: Situation): Decision | undefined {
  const { slots, membership, life } = situation;
  if (membership.kind === 'unknown') return wait('NoQuorum', membership.cause, { on: 'time', afterSeconds: 2 });

  const unknown = unknownAmong(membership.members, slots);
  if (unknown) {
    const address = unknown.peerURLs.join(', ');
    return refuse(
      'UnknownMember',
      `the member list has ${unknown.name || 'an unstarted member'} (${unknown.id}, ${address}), and no peer stands for it`,
      `if nobody needs it: etcdctl member remove ${unknown.id}`,
    );
  }
  const replaceable = slots.find((slot) => willBeReplaced(slot, situation));
  if (replaceable) {
    return wait(
      'MemberDown',
      `${needOfReplacement(replaceable, situation)}; it is replaced when it has been down for spec.healing.memberGracePeriod`,
      { on: 'change', of: 'pods' },
      { on: 'time', afterSeconds: 5 },
    );
  }
  const held = whatStays(situation);
  if (held) return held;
  const removed = life.stage === 'born' && slots.find((slot) => wasRemovedByOthers(slot, situation));
  if (removed) {
    return wait(
      'MemberRemoved',
      `somebody removed ${removed.name} from the member list; its pod goes after spec.healing.podGracePeriod, its volume stays`,
      { on: 'time', afterSeconds: 5 },
    );
  }
  const persons = personsAilment(slots, situation);
  if (persons) return refuse(persons.reason, persons.message, persons.cure);
  const [passing] = slots.flatMap((slot) => ailmentOf(slot, situation) ?? []);
  if (passing)
    return wait(passing.reason, passing.message, { on: 'change', of: 'pods' }, { on: 'time', afterSeconds: 2 });

  const learner = membership.members.find(({ isLearner }) => isLearner);
  if (learner) {
    return refuse(
      'UnknownLearner',
      `${learner.name} is a learner that etcd-ratchet did not add`,
      `promote it (etcdctl member promote ${learner.id}) or remove it`,
    );
  }
  if (life.stage === 'birth')
    return wait(
      'MembersStarting',
      'a recorded member has not yet started',
      { on: 'change', of: 'pods' },
      { on: 'time', afterSeconds: 2 },
    );
  return undefined;
}

/** Only where `heal` could: the birth is over, and a quorum of the others is healthy. */
function willBeReplaced(slot: Slot, situation: Situation): boolean {
  // One that ends as it was asked to is nothing to speak of.
  if (slot.pod?.endsBy && situation.at < slot.pod.endsBy && ailmentOf(slot, situation)?.reason === 'PodLeaving')
    return false;
  const { membership, life } = situation;
  if (life.stage !== 'born' || membership.kind === 'unknown' || !memberOf(slot, membership.members)) return false;
  return needOfReplacement(slot, situation) !== undefined && hasHealthyQuorum(situation);
}
