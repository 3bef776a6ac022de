import { recoveryJobName } from '../../../../manifests/build/names.ts';
import type { Ref } from '../../actions.ts';
import { hasDeparted, recordOf } from '../../life.ts';
import type { Observation, RecoveryView } from '../../observation.ts';
import { type Effect, type EffectsOf, oneByOne, onRecord, slotOf, wave, without } from '../effect.ts';

/** A recovery that a person approved. */

export const beginRecovery: EffectsOf<'begin-recovery'> = ({ id, volume, outvoted, volumes }, { slots }) =>
  oneByOne(
    onRecord(volume.name, (record) => ({
      ...record,
      state: 'recovering',
      outvoted: [...(record.outvoted ?? []), ...outvoted],
      recovery: {
        id,
        attempt: 0,
        lastSeenOn: Object.fromEntries(slots.flatMap(({ name, pod }) => (pod?.node ? [[name, [pod.node]]] : []))),
      },
    })),
    ...volumes.map(outvote),
  );

export const outvoteMembers: EffectsOf<'outvote-members'> = ({ volumes }) => oneByOne(...volumes.map(outvote));

function outvote({ name, uid }: Ref): Effect {
  return (observation) => {
    const slot = slotOf(observation, name);
    if (!slot || slot.volume?.uid !== uid || hasDeparted(slot)) return observation;
    return onRecord(name, (record) => ({ ...record, state: 'superseded' }))(observation);
  };
}

/** StatefulSets go at once, their pods when they are collected. */
export const stopMembers: EffectsOf<'stop-members'> = ({ statefulSets, pods }) =>
  wave(
    ...statefulSets.map(
      ({ name, uid }): Effect =>
        (observation) =>
          slotOf(observation, name)?.statefulSet?.uid === uid ? without(observation, name, 'statefulSet') : observation,
    ),
    ...pods.map(
      ({ name, uid }): Effect =>
        (observation) =>
          slotOf(observation, name)?.pod?.uid === uid ? without(observation, name, 'pod') : observation,
    ),
  );

export const forceNewCluster: EffectsOf<'force-new-cluster'> = ({ volume: { name }, id, attempt }) =>
  oneByOne(
    onRecord(name, (record) => (record.recovery ? { ...record, recovery: { ...record.recovery, attempt } } : record)),
    (observation) => {
      const view = recoveryOf(observation);
      if (view.job) return observation;
      const uid = `recovery-${id}-${attempt}`;
      const job = { name: recoveryJobName(name), uid, leaving: false, attempt: `${id}/${attempt}`, failed: false };
      return { ...observation, recovery: { ...view, job } };
    },
  );

export const concludeRecovery: EffectsOf<'conclude-recovery'> = ({ volume, job }) =>
  oneByOne(
    onRecord(volume.name, (record) => (record.state === 'recovering' ? { ...record, state: 'recovered' } : record)),
    withoutJob(job),
  );

export const deleteRecoveryJob: EffectsOf<'delete-recovery-job'> = ({ job }) => oneByOne(withoutJob(job));

function withoutJob({ uid }: Ref): Effect {
  return (observation) => {
    const { job, ...rest } = recoveryOf(observation);
    return job?.uid === uid ? { ...observation, recovery: rest } : observation;
  };
}

export function recoveryOf({ recovery }: Observation): Extract<RecoveryView, { kind: 'known' }> {
  return recovery?.kind === 'known' ? recovery : { kind: 'known', pods: [], nodes: {} };
}

/** Whose volume the cluster goes on from. */
export function chosenIn({ slots }: Observation) {
  return slots.find((slot) => ['recovering', 'recovered'].includes(recordOf(slot)?.state ?? ''));
}
