import { isUnstarted } from '../../../manifests/build/volume-record.ts';
import type { ActContext, LiveVolume } from './context.ts';
import { writeRecord } from './volume-state.ts';

/**
 * Before a member of a birth may be started for the first time, its volume says that it may have been. No claim says so when it is
 * made: one that arrives late, when the birth is over, is told by that, and nobody starts on it.
 *
 * Guards I5.
 */
export async function noteFirstStart({ claim, record }: LiveVolume, context: ActContext): Promise<void> {
  if (!isUnstarted(record)) return;
  await writeRecord(claim, { ...record, mayHaveStarted: true }, context);
}
