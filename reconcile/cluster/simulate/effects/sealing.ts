import { isSameMinor, minorText, parseVersion } from '../../../../manifests/api/version.ts';
import type { VolumeRecord } from '../../../../manifests/build/volume-record.ts';
import { recordOf } from '../../life.ts';
import { type EffectsOf, onSlot, wave } from '../effect.ts';
import { noteOf } from './disks.ts';
import { followVolume } from './preparing.ts';

export const sealMembers: EffectsOf<'seal-members'> = ({ clusterId, members }) => [
  ...wave(
    ...members.map(({ name, memberId, version }) =>
      onSlot(name, (slot) => {
        const record = recordOf(slot);
        if (!slot.volume || !record || !['bootstrapping', 'joining', 'recovered'].includes(record.state)) return slot;
        const { recovery: _, mayHaveStarted: __, ...rest } = record;
        const sealed = { ...rest, state: 'sealed' as const, clusterId, memberId, version, ...bornOn(version, record) };
        const told: VolumeRecord = { ...sealed, ...noteOf(slot.volume) };
        return { ...slot, volume: { ...slot.volume, record: { kind: 'valid', record: told } } };
      }),
    ),
  ),
  ...wave(...members.map(({ name }) => followVolume(name))),
];

function bornOn(version: string, { state, version: planned }: VolumeRecord): Partial<VolumeRecord> {
  if (state !== 'bootstrapping' || !isSameMinor(planned, parseVersion(version))) return {};
  return { minorSince: { minor: minorText(parseVersion(version)), index: '0' } };
}
