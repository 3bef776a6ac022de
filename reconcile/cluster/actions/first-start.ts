import { type ActContext, liveVolume } from './context.ts';
import { writeRecord } from './volume-state.ts';

/**
 * Before a member of a birth may be started for the first time, its volume says that it may have been. No claim says so when it is
 * made: one that arrives late, when the birth is over, is told by that, and nobody starts on it.
 *
 * Guards I5.
 */
export async function noteFirstStart(name: string, context: ActContext): Promise<void> {
  const { claim, record } = await liveVolume(context, name);
  if (record.state !== 'bootstrapping' || record.mayHaveStarted) return;
  await writeRecord(claim, { ...record, mayHaveStarted: true }, context);
}
