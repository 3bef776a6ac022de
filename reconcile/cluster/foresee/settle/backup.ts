import { timestamp } from '../../../time/timestamp.ts';
import type { Effect } from '../effect.ts';

/** A backup that is under way becomes Ready. */
export const takeBackup: Effect = (observation) => {
  const { awaitedBackup } = observation;
  if (awaitedBackup?.kind !== 'known' || awaitedBackup.state !== 'under-way') return observation;
  const ended = { uid: 'to-be-created', at: timestamp(observation.at) };
  return { ...observation, awaitedBackup: { ...awaitedBackup, state: 'good', ended } };
};
