import type { Effect } from '../effect.ts';

/** A backup that is under way becomes Ready. */
export const takeBackup: Effect = (observation) => {
  const { upgradeBackup } = observation;
  if (upgradeBackup?.kind !== 'known' || upgradeBackup.state !== 'under-way') return observation;
  return { ...observation, upgradeBackup: { ...upgradeBackup, state: 'good' } };
};
