import { isUnstarted } from '../../../../../manifests/render/volume-record.ts';
import type { Program } from '../../../../requests/program.ts';
import { type VolumeRead, writeRecord } from '../../requests/volumes.ts';

/**
 * Before a member of a birth may be started for the first time, its volume says that it may have been. No PVC says so
 * when it is made: one that arrives late, when the birth is over, is told by that, and no member starts on it.
 *
 * Guards I5.
 */
export function* noteFirstStart({ record, readAt }: Pick<VolumeRead, 'record' | 'readAt'>): Program {
  if (isUnstarted(record)) yield* writeRecord({ readAt, record: { ...record, mayHaveStarted: true } });
}
