import { isUnstarted } from '../../../../../manifests/render/volume-record.ts';
import type { Program } from '../../../../requests/program.ts';
import type { PeerView } from '../../../know/observation.ts';
import { type VolumeRead, writeRecord } from '../../requests/volumes.ts';

/**
 * Before a member of a birth may be started for the first time, its volume says that it may have been, and for which
 * peer. No PVC says so when it is made: one that arrives late, when the birth is over, is told by that, and no member
 * starts on it.
 *
 * Guards I5. Guards I6: of another peer's pods nothing is left, and its version counts as run.
 */
export function* noteFirstStart({ record, readAt }: Pick<VolumeRead, 'record' | 'readAt'>, peer: PeerView): Program {
  if (isUnstarted(record)) yield* writeRecord({ readAt, record: { ...record, mayHaveStarted: peer.uid } });
}
