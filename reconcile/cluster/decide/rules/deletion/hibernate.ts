import { hibernationBackupNow } from '../../../know/backups/hibernation-backup.ts';
import { act, type Decision, done, refuse, wait } from '../../../know/decision.ts';
import { hasDeparted, isAsleep, recordOf } from '../../../know/life.ts';
import type { Slot } from '../../../know/observation.ts';
import { stuckPod } from '../../../know/pods/stuck.ts';
import type { Ref } from '../../../know/ref.ts';
import type { Situation } from '../../../know/situation.ts';
import { waitForRoom } from '../../wait-for-room.ts';

/**
 * The spec asks for no members, and all are healthy: the volumes are marked, then all members stop. Data, addresses and
 * certificates stay.
 *
 * A named exception to I1. Below the gate: a cluster that is not healthy is healed first, because it cannot be healed
 * while it hibernates.
 */
export function hibernate(situation: Situation): Decision | undefined {
  const { effective, life } = situation;
  if (effective.replicas > 0 || life.stage !== 'born') return undefined;
  return waitForRoom(situation) ?? stopMembers(situation);
}

/**
 * A cluster that hibernates, or stops, or wakes: it follows the spec of now, whatever was begun. It wakes as it was, on
 * the version that ran; other changes of the spec come after that.
 *
 * Guards I5: a hibernated volume is sealed when it wakes, as it was before.
 */
export function sleep(situation: Situation): Decision | undefined {
  const { effective, slots } = situation;
  const asleep = slots.filter(isAsleep);
  if (asleep.length === 0) return undefined;
  if (effective.replicas > 0) {
    return act(
      { kind: 'wake-members', volumes: asleep.flatMap(volumeOf) },
      'WakingMembers',
      `the members start again on their volumes: ${namesOf(asleep)}`,
    );
  }
  const going = slots.find(({ volume, statefulSet }) => volume?.leaving && statefulSet);
  if (going) {
    return refuse(
      'VolumeLeaving',
      `volume ${going.name} is being deleted, and disappears when its member stops: so the member is not stopped`,
      'set spec.replicas to what it was, and that member is replaced; or, if its data may go, delete its StatefulSet',
    );
  }
  const running = slots.filter(({ statefulSet }) => statefulSet?.current && !statefulSet.leaving);
  if (running.length > 0 || slots.some((slot) => recordOf(slot)?.state === 'sealed')) return stopMembers(situation);
  const members = slots.filter((slot) => !hasDeparted(slot));
  if (members.some(({ statefulSet, pod }) => statefulSet || pod)) {
    const stuck = stuckPod(members, situation);
    if (stuck) return stuck;
    return wait(
      'MembersStopping',
      'the members are stopping',
      { on: 'change', of: 'pods' },
      { on: 'time', afterSeconds: 2 },
    );
  }
  return done('Hibernating', 'no member runs, as the spec asks; the volumes are kept');
}

/** Also what is left of it, where an invocation has died: volumes remember the backup that they have in common. */
export function stopMembers(situation: Situation): Decision {
  const { slots } = situation;
  const after = hibernationBackupNow(situation);
  const members = slots.filter((slot) => ['sealed', 'hibernating'].includes(recordOf(slot)?.state ?? ''));
  const statefulSets = slots.flatMap(({ name, statefulSet }): Ref[] =>
    statefulSet?.current && !statefulSet.leaving ? [{ name, uid: statefulSet.uid }] : [],
  );
  return act(
    {
      kind: 'hibernate-members',
      volumes: members.flatMap(volumeOf),
      statefulSets,
      ...(after && { after: { ...after, configMaps: members.flatMap(configMapOf) } }),
    },
    'Hibernating',
    `stopping ${namesOf(members)}: the spec asks for no members; their volumes are kept`,
  );
}

function volumeOf({ name, volume }: Slot): Ref[] {
  return volume ? [{ name, uid: volume.uid }] : [];
}

function configMapOf({ name, configMap }: Slot): Ref[] {
  return configMap?.current && !configMap.leaving ? [{ name, uid: configMap.uid }] : [];
}

function namesOf(slots: readonly Slot[]): string {
  return slots.map(({ name }) => name).join(', ');
}
