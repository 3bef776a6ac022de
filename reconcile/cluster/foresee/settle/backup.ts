import type { Effect } from '../effect.ts';

/** A backup that is under way becomes Ready. */
export const takeBackup: Effect = (observation) => {
  const { awaitedBackup } = observation;
  if (awaitedBackup?.kind !== 'known' || awaitedBackup.state !== 'under-way') return observation;
  return { ...observation, awaitedBackup: { ...awaitedBackup, state: 'good' } };
};
