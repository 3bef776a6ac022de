import { timestamp } from '../../../time/timestamp.ts';
import type { Effect } from '../effect.ts';

/** A backup that is under way becomes Ready. */
export const takeBackup: Effect = (observation) => {
  const { awaitedBackup } = observation;
  if (awaitedBackup?.kind !== 'known' || awaitedBackup.state !== 'under-way') return observation;
  const revisions = observation.slots.flatMap(({ endpoint }) =>
    endpoint.kind === 'known' ? [Number(endpoint.status.revision)] : [],
  );
  // It holds all that they have, unless something is written meanwhile.
  const all = revisions.length > 0 && { revision: Math.max(...revisions) };
  const ended = { uid: 'to-be-created', at: timestamp(observation.at), ...all };
  return { ...observation, awaitedBackup: { ...awaitedBackup, state: 'good', ended } };
};
