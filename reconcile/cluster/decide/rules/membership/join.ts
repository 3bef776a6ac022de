import { isDeepStrictEqual } from 'node:util';
import { inputsHash } from '../../../../../manifests/render/inputs-hash.ts';
import type { ListedMember } from '../../../../interfaces/etcd.ts';
import { inheritedIn, isWell } from '../../../know/adoption/inherited.ts';
import { act, type Decision, refuse, wait } from '../../../know/decision.ts';
import { ailmentOf, goesWithItsVolume, isIll, isInSync, memberOf, urlOf } from '../../../know/health/health.ts';
import { personsAilment } from '../../../know/health/persons-ailment.ts';
import { isBlockedByLeftovers } from '../../../know/leftovers.ts';
import { hasDeparted, recordOf } from '../../../know/life.ts';
import { givenUpAt } from '../../../know/membership/learners-time.ts';
import type { Slot } from '../../../know/observation.ts';
import { isBlockedFor } from '../../../know/pods/blocked.ts';
import type { Situation } from '../../../know/situation.ts';
import { configureBeforeStart } from '../../configure-before-start.ts';
import { startingInputs } from '../../held-version.ts';
import { isSealBroken } from '../volumes/keep-config-maps.ts';

/**
 * A member joins: on the list as a learner, started, sealed (`seal`), in sync, then a voter. Whatever step an
 * invocation died in, this goes on from there.
 *
 * Guards I2: one at a time. Guards I3: it is a learner first. Guards I5: it is sealed before its vote counts.
 */
export function join(situation: Situation): Decision | undefined {
  const { slots, membership, life } = situation;
  if (membership.kind === 'unknown') return undefined;
  const strays = life.stage === 'born' ? life.strays : [];
  const joining = slots.find(
    (slot) => isJoining(slot, membership.members) && !isSealBroken(slot) && !strays.includes(slot),
  );
  if (!joining?.peer || !joining.configMap || !joining.volume) return undefined;
  // A disk that disappears with its pod must not carry a vote: this learner is dropped, and another one joins.
  if (joining.volume.leaving) return undefined;
  const { name } = joining;
  const { clusterId, members } = membership;
  const url = urlOf(joining);
  const member = members.find(({ peerURLs }) => url !== undefined && peerURLs.includes(url));
  if (recordOf(joining)?.state === 'joining') {
    const others = members.filter((one) => one !== member);
    if (url === undefined || others.some(({ isLearner }) => isLearner)) return undefined;
    if (member && (member.name !== '' || isRecordedAs(joining, members, url))) return starting(joining, situation);
    // etcd refuses while a voter is away, and no member starts with a list that has a member without a name: `gate`
    // names it.
    const voters = slots.filter((slot) => memberOf(slot, others));
    const inherited = inheritedIn(situation).filter(isWell);
    if (
      voters.length + inherited.length < others.length ||
      voters.some((slot) => isIll(slot, situation) && !goesWithItsVolume(slot, situation))
    )
      return undefined;
    const late = toldBeforeItsStart(joining, situation);
    if (late) return late;
    return act(
      { kind: 'add-learner', name, url, clusterId, ...(!joining.statefulSet && { start: true }) },
      'AddingLearner',
      `adding ${name} to the member list, as a learner that has no vote yet${joining.statefulSet ? '' : ', and starting it'}`,
    );
  }
  // A pod that is being deleted answers to its end: as a voter its member would be away at once.
  if (joining.endpoint.kind === 'unknown' || !member || joining.pod?.leaving) return starting(joining, situation);
  if (!isInSync(joining, situation)) {
    return wait('LearnerCatchingUp', `${name} is catching up with the leader`, { on: 'time', afterSeconds: 1 });
  }
  return act(
    { kind: 'promote-learner', name, memberId: member.id, clusterId },
    'PromotingLearner',
    `${name} is in sync and sealed: it becomes a voter`,
  );
}

/**
 * Which CAs it is to load may have been settled since its peer was made, by the certificates that it was given: without
 * this it would be started again for them. Guards I6: another version is not taken on the way.
 */
function toldBeforeItsStart({ name, peer, statefulSet }: Slot, situation: Situation): Decision | undefined {
  const inputs = startingInputs(situation);
  if (!peer || statefulSet || peer.inputs.version !== inputs.version) return undefined;
  if (inputsHash(peer.inputs) === inputsHash(inputs)) return undefined;
  return configureBeforeStart([{ name, uid: peer.uid }], inputs, 'it is started as a learner');
}

const ordinary = { reason: 'LearnerStarting', message: '', passing: true } as const;

function isJoining(slot: Slot, members: readonly ListedMember[]): boolean {
  if (hasDeparted(slot) || isBlockedByLeftovers(slot) || recordOf(slot)?.state === 'releasing') return false;
  return recordOf(slot)?.state === 'joining' || memberOf(slot, members)?.isLearner === true;
}

/** Whether its volume has the list as it is now; it could not start with another one. */
function isRecordedAs(slot: Slot, members: readonly ListedMember[], url: string): boolean {
  const recorded = recordOf(slot)?.initialCluster.map((entry) => entry.url) ?? [];
  const listed = members.flatMap(({ peerURLs }) => peerURLs.slice(0, 1));
  return recorded.includes(url) && isDeepStrictEqual(recorded.toSorted(), listed.toSorted());
}

/**
 * What does not pass by itself, or has not for too long, is told as it is; what another learner may cure is waited for:
 * this one has its time.
 */
function starting(slot: Slot, situation: Situation): Decision {
  const { name } = slot;
  const persons = personsAilment([slot], situation);
  if (persons && givenUpAt(slot, situation) === undefined) {
    return refuse(persons.reason, `${persons.message}, and it can't join as a learner`, persons.cure);
  }
  const ailment = ailmentOf(slot, situation) ?? ordinary;
  const { reason, message } = ailment;
  const isOrdinary = ailment.passing && reason !== 'PodUnscheduled' && !isBlockedFor(reason);
  return wait(
    isOrdinary || !ailment.passing ? 'LearnerStarting' : ailment.reason,
    isOrdinary ? `${name} is starting as a learner` : `${message}; ${name} is to join as a learner`,
    { on: 'change', of: 'pods' },
    // No watch tells when etcd answers: often half a second after its container runs.
    { on: 'time', afterSeconds: 1 },
  );
}
