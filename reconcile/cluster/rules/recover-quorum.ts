import type { Recovery } from '../../../manifests/build/volume-record.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse, wait } from '../decision.ts';
import { openFences } from '../fencing.ts';
import { hasDeparted, recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';
import { unmarkedOf } from '../outvoted.ts';
import { isOnOtherDisk } from '../sealed-disk.ts';
import { podThatStays } from '../staying.ts';
import { askAbout } from './another-disk.ts';
import { isBeingRecovered } from './await-quorum.ts';
import { problemOf, quorumReturned } from './recovery-doubts.ts';
import { force, leftover, podLeaving } from './recovery-job.ts';

/**
 * A recovery that a person approved, from the mark on the volume on: whatever the annotation says by now, it is finished.
 *
 * Every other volume is told that it was outvoted; everybody stops; everybody is seen stopped; a Job makes a cluster of one of what
 * the chosen volume holds; the Job goes. Then the member starts at its old address, where those it left behind are told so.
 *
 * Guards I5 and I9: until the end nothing is let in, so that whatever was begun can be begun again; from `recovered` on nothing is.
 */
export function recoverQuorum(situation: Situation): Decision | undefined {
  const chosen = situation.slots.find(isBeingRecovered);
  const record = chosen && recordOf(chosen);
  if (!chosen?.volume || !record) return mark(situation) ?? leftover(situation);
  if (isOnOtherDisk(chosen)) return askAbout([chosen], situation, 'some');
  const recovery = record.recovery;
  const problem = problemOf(chosen, recovery, situation);
  if (problem || !recovery) return problem;
  if (record.state === 'recovered') {
    // Whoever slept may have started one of those that are left behind.
    const others = situation.slots.filter((slot) => slot !== chosen && hasDeparted(slot));
    return mark(situation) ?? stop(chosen, others, situation) ?? leftover(situation) ?? podLeaving(situation);
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

/** Those that were left behind, and whose claims do not say so: nobody may start them when the others are gone, either. */
function mark({ slots }: Situation): Decision | undefined {
  const found = unmarkedOf(slots);
  return found && outvoting(found.witness, found.unmarked);
}

/** Those that whoever began did not come to. */
function outvote(chosen: Slot, { slots, life }: Situation): Decision | undefined {
  const strays = life.stage === 'born' ? life.strays : [];
  const others = slots.filter(
    (slot) => slot !== chosen && recordOf(slot) && !hasDeparted(slot) && !strays.includes(slot),
  );
  return others.length > 0 ? outvoting(chosen, others) : undefined;
}

function outvoting(witness: Slot, others: readonly Slot[]): Decision | undefined {
  const volumes = others.flatMap(({ name, volume }) => (volume ? [{ name, uid: volume.uid }] : []));
  return (
    witness.volume &&
    act(
      { kind: 'outvote-members', volume: { name: witness.name, uid: witness.volume.uid }, volumes },
      'OutvotingMembers',
      `${volumes.map(({ name }) => name).join(', ')}: left behind by the recovery from which ${witness.name} goes on; their volumes are kept`,
    )
  );
}

/** Also whom somebody who slept has started since: nobody of these runs. */
function stop(chosen: Slot, slots: readonly Slot[], { cluster }: Situation): Decision | undefined {
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
    `stopping members of ${cluster.metadata.name}: none may run while one forgets the others`,
  );
}

/** That nobody runs any more has been seen. */
function fence(recovery: Recovery, situation: Situation): Decision | undefined {
  const { slots, recovery: view } = situation;
  // Before the first attempt everybody was seen stopped, wherever they had been.
  const { lastSeenOn, ...rest } = recovery;
  const open = openFences(slots, recovery.attempt === 0 ? recovery : { ...rest, lastSeenOn: {} }, view);
  const stuck = open.find(({ cure }) => cure !== undefined);
  if (stuck?.cure !== undefined) return refuse('MemberNotFenced', stuck.message, stuck.cure);
  const [first] = open;
  if (!first) return undefined;
  return (
    podThatStays(slots, situation) ??
    wait('FencingMembers', first.message, { on: 'change', of: 'pods' }, { on: 'time', afterSeconds: 2 })
  );
}
