import type { Ref } from '../../actions.ts';
import { type Effect, type EffectsOf, oneByOne, onSlot, slotOf, wave, without } from '../effect.ts';
import { withLeavesOf } from './leaves.ts';

/** What goes with the cluster, or with a member that is none any more. */

export const deletePeers: EffectsOf<'delete-peers'> = ({ peers }) => wave(...peers.map(removePeer));

export const deleteVolumes: EffectsOf<'delete-volumes'> = ({ volumes }) =>
  oneByOne(...volumes.map(({ name, uid }) => deleteVolume(name, uid)));

/** It goes at once; what it owned has no owner any more, and is collected. */
export function removePeer({ name, uid }: Ref): Effect {
  return (observation) => {
    if (slotOf(observation, name)?.peer?.uid !== uid) return observation;
    const slots = observation.slots.map((slot) => {
      if (slot.name !== name) return slot;
      const { configMap, statefulSet } = slot;
      return {
        ...slot,
        ...(configMap?.byPeer && { configMap: { ...configMap, current: false } }),
        ...(statefulSet && { statefulSet: { ...statefulSet, current: false } }),
      };
    });
    return withLeavesOf(without({ ...observation, slots }, name, 'peer'));
  };
}

/** It stays for as long as a pod has it. */
export function deleteVolume(name: string, uid: string): Effect {
  return onSlot(name, (slot) =>
    slot.volume?.uid === uid && !slot.volume.leaving ? { ...slot, volume: { ...slot.volume, leaving: true } } : slot,
  );
}
