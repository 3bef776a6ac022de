import { ordinalOf, podHost } from '../../../manifests/build/names.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { downFor, graceOf, needOfReplacement, wasRemovedByOthers } from '../down.ts';
import { ailmentOf, memberOf } from '../health.ts';
import { successorOf } from '../leadership.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';
import { quorumOf } from '../quorum.ts';
import { joiner } from './scale.ts';

/**
 * A voter that is down for longer than its grace, for a cause that only a new member cures, is replaced: first volume and peer of
 * the new one are recorded, which is what remembers it, then the old one is removed (`finish-removal`), then the new one joins
 * (`join`). Not gated: a cluster that lacks a member is not well, and this is the cure.
 *
 * Guards I9: a quorum of the others is healthy, each seen so by itself. Guards I2: one at a time, and never while a removal is
 * unfinished.
 */
export function heal(situation: Situation): Decision | undefined {
  const { membership, slots, life, effective } = situation;
  if (membership.kind === 'unknown' || life.stage !== 'born') return undefined;
  const voters = membership.members.filter(({ isLearner }) => !isLearner);
  const isVoter = (slot: Slot) => memberOf(slot, voters) !== undefined;
  const well = slots.filter((slot) => isVoter(slot) && ailmentOf(slot, situation) === undefined);
  if (well.length < quorumOf(voters.length)) return undefined;
  const down = slots.find(
    (slot) =>
      isVoter(slot) &&
      downFor(slot, situation) >= graceOf(situation).member &&
      needOfReplacement(slot, situation) !== undefined,
  );
  const member = down && memberOf(down, voters);
  if (!down || !member) return undefined;
  const why = needOfReplacement(down, situation) ?? '';
  const comes = slots.some((slot) => recordOf(slot)?.state === 'joining') || voters.length < membership.members.length;
  // None asked for: it is to hibernate as it is, whole.
  const wanted = effective.replicas === 0 ? voters.length : effective.replicas;
  if (!comes && voters.length <= wanted) return prepared(situation, down, why);
  const { name, volume } = down;
  // One whose volume is only on its way out may lead.
  const successor = successorOf(down, situation);
  return act(
    {
      kind: 'remove-member',
      name,
      memberId: member.id,
      clusterId: membership.clusterId,
      ...(volume && { volume: { name, uid: volume.uid } }),
      ...(successor && { successor }),
    },
    'RemovingDeadMember',
    `removing ${name} from the member list, to make room for a new one: ${why}`,
  );
}

function prepared(situation: Situation, down: Slot, why: string): Decision | undefined {
  const member = joiner(situation);
  return (
    member &&
    act(
      { kind: 'prepare-members', members: [member], inputs: situation.effective.inputs },
      'ReplacingMember',
      `recording ${member.name}, which is to take the place of ${down.name}: ${why}`,
    )
  );
}

/**
 * A member that we did not remove, and that is not on the list any more, will never be one again: its peer goes, its volume is
 * kept, for the one who removed it.
 */
export function letRemovedGo(situation: Situation): Decision | undefined {
  const { membership, slots, life } = situation;
  if (membership.kind === 'unknown' || life.stage !== 'born') return undefined;
  const gone = slots.find(
    (slot) => wasRemovedByOthers(slot, situation) && downFor(slot, situation) >= graceOf(situation).pod,
  );
  const memberId = gone && recordOf(gone)?.memberId;
  if (!gone?.volume || !gone.peer || memberId === undefined) return undefined;
  const { name, volume, peer } = gone;
  return act(
    {
      kind: 'retire-member',
      name,
      clusterId: membership.clusterId,
      ...(!peer.leaving && { peer: { name, uid: peer.uid } }),
      volume: { name, uid: volume.uid, memberId, state: 'superseded', keep: true },
    },
    'RetiringMember',
    `somebody removed ${name} from the member list, which is for ever: its pod goes, its volume is kept`,
  );
}

/** A learner that answers is being sent the data, which may be a lot. */
const catchingUp = 6;

/**
 * A learner that has not started, or not caught up, within the grace of a member (six times that while it answers), is removed, so that it holds up nothing any
 * longer. It has no vote: nobody misses it. Another one is tried once; after that a person must look.
 */
export function dropLearner(situation: Situation): Decision | undefined {
  const { membership, slots } = situation;
  if (membership.kind === 'unknown') return undefined;
  const learner = slots.find((slot) => {
    const member = memberOf(slot, membership.members);
    const patience = graceOf(situation).member * (slot.endpoint.kind === 'known' ? catchingUp : 1);
    return member?.isLearner && recordOf(slot) && downFor(slot, situation) >= patience;
  });
  const member = learner && memberOf(learner, membership.members);
  if (!learner?.volume || !member) return undefined;
  const { name, volume } = learner;
  const why = ailmentOf(learner, situation)?.message ?? `${name} does not catch up`;
  return act(
    {
      kind: 'remove-member',
      name,
      memberId: member.id,
      clusterId: membership.clusterId,
      volume: { name, uid: volume.uid },
    },
    'RemovingFailedLearner',
    `removing the learner ${name} again: ${why}`,
  );
}

/**
 * A learner at an address of ours, with no volume that says `joining`: added by an invocation that slept until somebody else had
 * taken that member away again. It has no vote and no data.
 */
export function dropGhost({ membership, slots, cluster }: Situation): Decision | undefined {
  if (membership.kind === 'unknown') return undefined;
  const { name: clusterName, namespace = '' } = cluster.metadata;
  for (const { id, isLearner, name: started, peerURLs } of membership.members) {
    if (!isLearner || started !== '' || slots.some((slot) => memberOf(slot, membership.members)?.id === id)) continue;
    const host = new URL(peerURLs[0] ?? 'http://none').hostname.split('.')[0] ?? '';
    const name = host.replace(/-0$/, '');
    if (ordinalOf(clusterName, name) === undefined || slots.some((slot) => slot.name === name)) continue;
    if (!peerURLs.every((url) => new URL(url).hostname === podHost(namespace, clusterName, name))) continue;
    return act(
      { kind: 'remove-member', name, memberId: id, clusterId: membership.clusterId },
      'RemovingGhost',
      `removing the learner ${name}, which was added too late: nothing stands for it any more`,
    );
  }
  return undefined;
}

/** A pod that is neither well nor known to be broken is made anew, once: StatefulSets don't do that. Nobody misses it, it is not Ready. */
export function recreatePod(situation: Situation): Decision | undefined {
  const { slots, life, cluster } = situation;
  if (life.stage !== 'born') return undefined;
  const stuck = slots.find((slot) => {
    const { pod } = slot;
    const since = cluster.status?.members?.find(({ name }) => name === slot.name)?.unhealthySince;
    if (!pod || pod.leaving || pod.ready || pod.unscheduled !== undefined || since === undefined) return false;
    // A learner is never Ready, and may be catching up for long: who answers is not stuck.
    const isStarting = slot.endpoint.kind === 'unknown' && ailmentOf(slot, situation)?.reason === 'MemberStarting';
    const madeAlready = pod.createdAt.getTime() > Date.parse(since);
    return isStarting && !madeAlready && downFor(slot, situation) >= graceOf(situation).pod;
  });
  if (!stuck?.pod) return undefined;
  const { name, pod } = stuck;
  return act(
    { kind: 'recreate-pod', pod: { name, uid: pod.uid } },
    'RecreatingPod',
    `making the pod of ${name} anew: it has not become Ready, and nothing says why`,
  );
}
