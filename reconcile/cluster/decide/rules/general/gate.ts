import { isAdopting } from '../../../know/adoption/inherited.ts';
import { type Decision, refuse, wait } from '../../../know/decision.ts';
import { isPassing } from '../../../know/health/ailment.ts';
import { needOfReplacement, wasRemovedByOthers } from '../../../know/health/down.ts';
import { ailmentOf, memberOf } from '../../../know/health/health.ts';
import { personsAilment } from '../../../know/health/persons-ailment.ts';
import { healsByHand } from '../../../know/membership/replacement-approval.ts';
import { hasHealthyQuorum, unknownAmong } from '../../../know/membership/voters.ts';
import type { Slot } from '../../../know/observation.ts';
import { stuckMember } from '../../../know/pods/stuck.ts';
import type { Situation } from '../../../know/situation.ts';
import { inheritedDown } from '../adoption/take-over.ts';

/**
 * All rules below change a working cluster, and need every member to be a healthy voter.
 *
 * Guards I1: a member is only ever taken out while all the others are there.
 */
export function gate(situation: Situation): Decision | undefined {
  const { slots, membership, life } = situation;
  if (membership.kind === 'unknown') return wait('NoQuorum', membership.cause, { on: 'time', afterSeconds: 2 });

  const unknown = unknownAmong(membership.members, situation);
  if (unknown) {
    const address = unknown.peerURLs.join(', ');
    return refuse(
      'UnknownMember',
      `the member list has ${unknown.name || 'an unstarted member'} (${unknown.id}, ${address}), which has no EtcdPeer`,
      `${isAdopting(situation) ? addedBeside : ''}if nothing needs it: etcdctl member remove ${unknown.id}`,
    );
  }
  const inherited = inheritedDown(situation);
  if (inherited) return inherited;
  const replaceable = slots.find((slot) => willBeReplaced(slot, situation));
  if (replaceable) {
    return wait(
      'MemberDown',
      `${needOfReplacement(replaceable, situation)}; ${healsByHand(situation) ? 'a person is asked whether it is replaced (spec.healing.mode: Manual)' : 'it is replaced'} after spec.healing.memberGracePeriod`,
      { on: 'change', of: 'pods' },
      { on: 'time', afterSeconds: 5 },
    );
  }
  const held = stuckMember(situation);
  if (held) return held;
  const removed = life.stage === 'born' && slots.find((slot) => wasRemovedByOthers(slot, situation));
  if (removed) {
    return wait(
      'MemberRemoved',
      `a person or a tool removed ${removed.name} from the member list; its pod is deleted after spec.healing.podGracePeriod, its volume is kept`,
      { on: 'time', afterSeconds: 5 },
    );
  }
  const persons = personsAilment(slots, situation);
  if (persons) return refuse(persons.reason, persons.message, persons.cure);
  const passing = slots.flatMap((slot) => ailmentOf(slot, situation) ?? []).find(isPassing);
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
      'a recorded member has not started yet',
      { on: 'change', of: 'pods' },
      { on: 'time', afterSeconds: 2 },
    );
  return undefined;
}

/** Only where `heal` would: the birth is over, and a quorum of the others is healthy. */
function willBeReplaced(slot: Slot, situation: Situation): boolean {
  // A pod within its termination grace period is not worth a report.
  if (slot.pod?.endsBy && situation.at < slot.pod.endsBy && ailmentOf(slot, situation)?.reason === 'PodLeaving')
    return false;
  const { membership, life } = situation;
  if (life.stage !== 'born' || membership.kind === 'unknown' || !memberOf(slot, membership.members)) return false;
  return needOfReplacement(slot, situation) !== undefined && hasHealthyQuorum(situation);
}

const addedBeside =
  'stop what manages the cluster that is taken over, which may have added it; if another EtcdCluster that takes over the same one has, delete one of the two; ';
