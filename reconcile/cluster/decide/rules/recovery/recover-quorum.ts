import type { Recovery } from '../../../../../manifests/render/volume-record.ts';
import { timestamp } from '../../../../time/timestamp.ts';
import { act, type Decision, refuse, wait } from '../../../know/decision.ts';
import { hasDeparted, isBeingRecovered, recordOf } from '../../../know/life.ts';
import type { Slot } from '../../../know/observation.ts';
import { openFences } from '../../../know/pods/node-fence.ts';
import { stuckPod } from '../../../know/pods/stuck.ts';
import { isGivenUp, isOutvoted, unmarkedOf } from '../../../know/recovery/outvoted.ts';
import type { Situation } from '../../../know/situation.ts';
import { isOnOtherDisk } from '../../../know/volumes/sealed-disk.ts';
import { askAbout } from '../volumes/another-disk.ts';
import { leftover, podLeaving } from './after-job.ts';
import { problemOf, quorumReturned } from './recovery-doubts.ts';
import { force } from './recovery-job.ts';

/**
 * A recovery that a person approved, from the mark on the volume on: it is finished, whatever the annotation says by
 * now.
 *
 * Every other volume is marked as outvoted; all members stop; each is seen stopped; a Job reduces the member list on
 * the chosen volume to that one member; the Job is deleted. Then the member starts at its old address, where members
 * that were left behind learn that they are.
 *
 * Guards I5 and I9: until the end no client is admitted, so every step can be repeated; from `recovered` on none is.
 */
export function recoverQuorum(situation: Situation): Decision | undefined {
  const chosen = situation.slots.find(isBeingRecovered);
  const record = chosen && recordOf(chosen);
  if (!chosen?.volume || !record) return mark(situation) ?? leftover(situation, 'recovery');
  if (isOnOtherDisk(chosen)) return askAbout([chosen], situation, 'some');
  const recovery = record.recovery;
  const problem = problemOf(chosen, recovery, situation);
  if (problem || !recovery) return problem;
  if (record.state === 'recovered') {
    // An outdated invocation may have started a member that was left behind.
    const others = situation.slots.filter((slot) => slot !== chosen && hasDeparted(slot));
    return (
      mark(situation) ??
      stop(chosen, others, situation) ??
      leftover(situation, 'recovery') ??
      podLeaving(situation, 'recovery')
    );
  }
  return (
    quorumReturned(chosen, recovery, situation) ??
    mark(situation) ??
    outvote(chosen, situation) ??
    stop(chosen, situation.slots, situation) ??
    fence(recovery, situation) ??
    force(chosen, recovery, situation)
  );
}

/** Members that were left behind, without a mark on their PVC: none may start, also when the others are gone. */
export function mark({ slots, at }: Situation): Decision | undefined {
  const found = unmarkedOf(slots);
  if (!found) return undefined;
  const { witness, unmarked } = found;
  // Of a recovery they are kept for good: no snapshot that was approved has what they may have.
  const givenUp = unmarked.filter((slot) => isGivenUp(witness, slot) && !isOutvoted(witness, slot));
  return givenUp.length > 0 ? givingUp(witness, givenUp, at) : outvoting(witness, unmarked);
}

function givingUp(witness: Slot, others: readonly Slot[], at: Date): Decision | undefined {
  const gaveUp = [...new Set(others.flatMap((slot) => recordOf(slot)?.clusterId ?? []))].join(', ');
  const why = `etcd cluster ${gaveUp} is given up, and what was written to it since the snapshot; its volumes are kept`;
  return marking(witness, others, { reason: 'GivingUpMembers', why, replacedAt: timestamp(at) });
}

/** Volumes that the invocation which began the recovery did not mark. */
function outvote(chosen: Slot, { slots, life }: Situation): Decision | undefined {
  const strays = life.stage === 'born' ? life.strays : [];
  const others = slots.filter(
    (slot) => slot !== chosen && recordOf(slot) && !hasDeparted(slot) && !strays.includes(slot),
  );
  return others.length > 0 ? outvoting(chosen, others) : undefined;
}

function outvoting(witness: Slot, others: readonly Slot[]): Decision | undefined {
  const why = `left behind by the recovery from which ${witness.name} goes on; their volumes are kept`;
  return marking(witness, others, { reason: 'OutvotingMembers', why });
}

interface Mark {
  readonly reason: 'GivingUpMembers' | 'OutvotingMembers';
  readonly why: string;
  readonly replacedAt?: string;
}

function marking(witness: Slot, others: readonly Slot[], { reason, why, ...rest }: Mark): Decision | undefined {
  const volumes = others.flatMap(({ name, volume }) => (volume ? [{ name, uid: volume.uid }] : []));
  if (!witness.volume) return undefined;
  const volume = { name: witness.name, uid: witness.volume.uid };
  const names = volumes.map(({ name }) => name).join(', ');
  return act({ kind: 'outvote-members', volume, volumes, ...rest }, reason, `${names}: ${why}`);
}

/** Also members that an outdated invocation has started since: none of these may run. */
export function stop(
  chosen: Slot,
  slots: readonly Slot[],
  { cluster }: Situation,
  why = 'while the member list is reduced to one member',
): Decision | undefined {
  const statefulSets = slots.flatMap(({ name, statefulSet }) =>
    statefulSet && !statefulSet.leaving ? [{ name, uid: statefulSet.uid }] : [],
  );
  const pods = slots.flatMap(({ name, statefulSet, pod }) =>
    pod && !pod.leaving && !statefulSet ? [{ name, uid: pod.uid }] : [],
  );
  if (statefulSets.length + pods.length === 0 || !chosen.volume) return undefined;
  return act(
    { kind: 'stop-members', volume: { name: chosen.name, uid: chosen.volume.uid }, statefulSets, pods },
    'StoppingMembers',
    `stopping members of ${cluster.metadata.name}: none may run ${why}`,
  );
}

/** There is proof that no pod of these members runs. */
function fence(recovery: Recovery, situation: Situation): Decision | undefined {
  // Before the first attempt every member was seen stopped, on whatever node.
  return awaitEnds(situation.slots, recovery.attempt === 0 ? recovery : { lastSeenOn: {} }, situation);
}

/** @param besides what else of theirs has not ended yet */
export function awaitEnds(
  slots: readonly Slot[],
  recovery: Pick<Recovery, 'lastSeenOn'>,
  situation: Situation,
  besides?: string,
): Decision | undefined {
  const open = openFences(slots, recovery, situation.recovery);
  const stuck = open.find(({ cure }) => cure !== undefined);
  if (stuck?.cure !== undefined) return refuse('MemberNotFenced', stuck.message, stuck.cure);
  const message = open[0]?.message ?? besides;
  if (message === undefined) return undefined;
  return (
    stuckPod(slots, situation) ??
    wait('FencingMembers', message, { on: 'change', of: 'pods' }, { on: 'time', afterSeconds: 2 })
  );
}
