import { isHigher } from '../../../../../manifests/api/version.ts';
import { isBeforeFirstStart, type VolumeRecord } from '../../../../../manifests/render/volume-record.ts';
import type { Program } from '../../../../requests/program.ts';
import { liveVolume, type VolumeRead, writeRecord } from '../../requests/volumes.ts';

/**
 * Before a version may be started for the first time, its volume says that it may have been: a resource that is
 * re-created must know what ran. Of a birth that is not sealed, nothing ran for certain: its version is the highest.
 *
 * @param rolls a roll of all members gives it that version: the volume says so, too
 */
export function* noteNextVersion(name: string, version: string, rolls = false): Program {
  const { record, readAt } = yield* liveVolume(name);
  if (isBeforeFirstStart(record)) return yield* raiseBirth({ record, readAt }, version);
  const isNews = isHigher(version, record.version) && !isNoted(record, version);
  const begins = rolls && record.rollsTo !== version;
  if (!isNews && !begins) return;
  const noted = { ...(isNews && { nextVersion: version }), ...(begins && { rollsTo: version }) };
  yield* writeRecord({ readAt, record: { ...record, ...noted } });
}

/**
 * Before a peer is made for a volume that was there: what may have run on it counts as run. The pods that could say
 * that it did not are those of another peer, and gone.
 */
export function* takeNextAsRun({ record, readAt }: Pick<VolumeRead, 'record' | 'readAt'>): Program {
  const { nextVersion, ...rest } = record;
  if (nextVersion !== undefined && isHigher(nextVersion, record.version))
    yield* writeRecord({ readAt, record: { ...rest, version: nextVersion } });
}

/** Not of a restore: the version that its data were made with is what starts first. */
function* raiseBirth({ record, readAt }: Pick<VolumeRead, 'record' | 'readAt'>, version: string): Program {
  if (record.state !== 'bootstrapping' || !isHigher(version, record.version)) return;
  yield* writeRecord({ readAt, record: { ...record, version } });
}

function isNoted({ nextVersion }: VolumeRecord, version: string): boolean {
  return nextVersion !== undefined && !isHigher(version, nextVersion);
}
