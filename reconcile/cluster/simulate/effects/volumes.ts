import { parseQuantity } from '../../../../manifests/api/quantity.ts';
import type { Ref } from '../../actions.ts';
import { recordOf } from '../../life.ts';
import { type Effect, type EffectsOf, oneByOne, onRecord, onSlot, slotOf, wave, without } from '../effect.ts';

/** Volumes that grow, sleep and wake. */

/** A volume, then its peer; what has the size already is not written. */
export const growVolumes: EffectsOf<'grow-volumes'> = ({ volumes }, observation) =>
  volumes.flatMap(({ name, uid, size }) => {
    const { volume, peer } = slotOf(observation, name) ?? {};
    if (volume?.uid !== uid) return [];
    return oneByOne(
      parseQuantity(volume.size) < parseQuantity(size)
        ? onSlot(name, (slot) => (slot.volume?.uid === uid ? { ...slot, volume: { ...slot.volume, size } } : slot))
        : undefined,
      peer && peer.inputs.storage.size !== size ? recordSize(name, size) : undefined,
    );
  });

function recordSize(name: string, size: string): Effect {
  return onSlot(name, (slot) => {
    if (!slot.peer || slot.peer.inputs.storage.size === size) return slot;
    const { inputs } = slot.peer;
    return { ...slot, peer: { ...slot.peer, inputs: { ...inputs, storage: { ...inputs.storage, size } } } };
  });
}

export const hibernateMembers: EffectsOf<'hibernate-members'> = ({ volumes, statefulSets }, observation) => [
  ...wave(
    ...volumes.map(({ name }) =>
      recordOf(slotOf(observation, name) ?? {})?.state === 'sealed' ? turn(name, 'sealed', 'hibernating') : undefined,
    ),
  ),
  ...wave(...statefulSets.map(deleteStatefulSet)),
];

export const wakeMembers: EffectsOf<'wake-members'> = ({ volumes }) =>
  wave(...volumes.map(({ name }) => turn(name, 'hibernating', 'sealed')));

function turn(name: string, from: 'sealed' | 'hibernating', to: 'sealed' | 'hibernating'): Effect {
  return onRecord(name, (record) => (record.state === from ? { ...record, state: to } : record));
}

/** It goes at once, its pod when it is collected. */
function deleteStatefulSet({ name, uid }: Ref): Effect {
  return (observation) =>
    slotOf(observation, name)?.statefulSet?.uid === uid ? without(observation, name, 'statefulSet') : observation;
}
