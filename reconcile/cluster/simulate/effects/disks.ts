import type { SealedDisk } from '../../../../manifests/build/sealed-disk.ts';
import type { VolumeRecord } from '../../../../manifests/build/volume-record.ts';
import type { VolumeView } from '../../observation.ts';
import { type Effect, type EffectsOf, oneByOne, onSlot, slotOf, wave, without } from '../effect.ts';
import { followVolume } from './preparing.ts';

/** Which disk a volume was sealed on. */

export const noteDisks: EffectsOf<'note-disks'> = ({ volumes }) =>
  wave(...volumes.map(({ name, uid }) => noted(name, uid)));

export const acceptDisks: EffectsOf<'accept-disks'> = ({ volumes }) =>
  oneByOne(...volumes.flatMap(({ name, uid }) => [noted(name, uid), followVolume(name)]));

export const barMembers: EffectsOf<'bar-members'> = ({ members }) =>
  oneByOne(
    ...members.flatMap(({ name, configMap, pod }): (Effect | undefined)[] => [
      configMap === undefined
        ? undefined
        : (seen) => (slotOf(seen, name)?.configMap?.uid === configMap ? without(seen, name, 'configMap') : seen),
      pod === undefined
        ? undefined
        : (seen) => (slotOf(seen, name)?.pod?.uid === pod ? without(seen, name, 'pod') : seen),
    ]),
  );

function noted(name: string, uid: string): Effect {
  return onSlot(name, (slot) => {
    if (slot.volume?.record.kind !== 'valid' || slot.volume.uid !== uid) return slot;
    const { disk: _, ...rest } = slot.volume.record.record;
    const record: VolumeRecord = { ...rest, ...noteOf(slot.volume) };
    return { ...slot, volume: { ...slot.volume, record: { kind: 'valid', record } } };
  });
}

/** As far as it is known what is behind it. */
export function noteOf({ disk }: VolumeView): { readonly disk?: SealedDisk } {
  if (!disk) return {};
  return { disk: { pv: disk.pv, ...(disk.handle !== undefined && { handle: disk.handle }) } };
}
