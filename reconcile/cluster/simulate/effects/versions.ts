import { isHigher, isVersion } from '../../../../manifests/api/version.ts';
import type { VolumeRecord } from '../../../../manifests/build/volume-record.ts';
import { recordOf } from '../../life.ts';
import type { Observation } from '../../observation.ts';
import { hasRunHigher } from '../../versions-run.ts';
import { type Effect, type EffectsOf, onRecord, slotOf, wave } from '../effect.ts';

/** What volumes are told of what their members run. */

export const noteVersions: EffectsOf<'note-versions'> = ({ clusterId, members, since }) =>
  wave(
    ...members.map(({ name, memberId, version }) =>
      onRecord(name, (record) => {
        if (record.state !== 'sealed' || record.memberId !== memberId || record.clusterId !== clusterId) return record;
        const { nextVersion: _, ...rest } = record;
        return { ...rest, version, ...(since && { minorSince: since }) };
      }),
    ),
  );

/** Written only where it says something new. */
export function noteNextVersion(
  name: string,
  version: string | undefined,
  observation: Observation,
): Effect | undefined {
  const record = recordOf(slotOf(observation, name) ?? {});
  if (!record || version === undefined || !isNews(record, version)) return undefined;
  return onRecord(name, (found) => (isNews(found, version) ? { ...found, nextVersion: version } : found));
}

/** Of who goes back to a lower minor than its pod ran. */
export function noteRan(name: string, version: string | undefined, observation: Observation): Effect | undefined {
  const slot = slotOf(observation, name);
  const ran = slot?.pod?.version;
  const record = recordOf(slot ?? {});
  if (!slot?.pod || ran === undefined || version === undefined || !hasRunHigher(slot.pod, version)) return undefined;
  if (!record || record.state === 'bootstrapping' || !isKnownHigher(ran, record.version)) return undefined;
  return onRecord(name, (found) => (isKnownHigher(ran, found.version) ? { ...found, version: ran } : found));
}

function isNews({ state, version: noted, nextVersion }: VolumeRecord, version: string): boolean {
  if (state === 'bootstrapping' || !isKnownHigher(version, noted)) return false;
  return nextVersion === undefined || isKnownHigher(version, nextVersion);
}

/** `false` where one of them is no version: an observation may say anything. */
function isKnownHigher(version: string, than: string): boolean {
  return isVersion(version) && isVersion(than) && isHigher(version, than);
}
