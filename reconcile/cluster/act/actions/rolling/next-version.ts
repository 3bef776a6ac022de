import { isHigher } from '../../../../../manifests/api/version.ts';
import { isBeforeFirstStart, type VolumeRecord } from '../../../../../manifests/render/volume-record.ts';
import type { Program } from '../../../../requests/program.ts';
import { liveVolume, writeRecord } from '../../requests/volumes.ts';

/**
 * Before a version may be started for the first time, its volume says that it may have been: a resource that is
 * re-created must know what ran.
 *
 * @param rolls a roll of all members gives it that version: the volume says so, too
 */
export function* noteNextVersion(name: string, version: string, rolls = false): Program {
  const { record, readAt } = yield* liveVolume(name);
  if (isBeforeFirstStart(record)) return;
  const isNews = isHigher(version, record.version) && !isNoted(record, version);
  const begins = rolls && record.rollsTo !== version;
  if (!isNews && !begins) return;
  const noted = { ...(isNews && { nextVersion: version }), ...(begins && { rollsTo: version }) };
  yield* writeRecord({ readAt, record: { ...record, ...noted } });
}

function isNoted({ nextVersion }: VolumeRecord, version: string): boolean {
  return nextVersion !== undefined && !isHigher(version, nextVersion);
}
