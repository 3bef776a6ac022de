import { isHigher } from '../../../../../manifests/api/version.ts';
import { isBeforeFirstStart } from '../../../../../manifests/render/volume-record.ts';
import type { Program } from '../../../../requests/program.ts';
import { liveVolume, writeRecord } from '../../requests/volumes.ts';

/**
 * Before a version may be started for the first time, its volume says that it may have been: a resource that is
 * re-created must know what ran.
 */
export function* noteNextVersion(name: string, version: string): Program {
  const { record, readAt } = yield* liveVolume(name);
  if (isBeforeFirstStart(record) || !isHigher(version, record.version)) return;
  if (record.nextVersion !== undefined && !isHigher(version, record.nextVersion)) return;
  yield* writeRecord({ readAt, record: { ...record, nextVersion: version } });
}
