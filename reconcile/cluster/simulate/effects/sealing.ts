import { isSameMinor, minorText, parseVersion } from '../../../../manifests/api/version.ts';
import type { VolumeRecord } from '../../../../manifests/build/volume-record.ts';
import { type EffectsOf, onRecord, wave } from '../effect.ts';
import { followVolume } from './preparing.ts';

export const sealMembers: EffectsOf<'seal-members'> = ({ clusterId, members }) => [
  ...wave(
    ...members.map(({ name, memberId, version }) =>
      onRecord(name, (record) => {
        if (!['bootstrapping', 'joining', 'recovered'].includes(record.state)) return record;
        const { recovery: _, mayHaveStarted: __, ...rest } = record;
        return { ...rest, state: 'sealed', clusterId, memberId, version, ...bornOn(version, record) };
      }),
    ),
  ),
  ...wave(...members.map(({ name }) => followVolume(name))),
];

function bornOn(version: string, { state, version: planned }: VolumeRecord): Partial<VolumeRecord> {
  if (state !== 'bootstrapping' || !isSameMinor(planned, parseVersion(version))) return {};
  return { minorSince: { minor: minorText(parseVersion(version)), index: '0' } };
}
