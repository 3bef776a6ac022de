import type { OutageReason } from '../../reasons/reasons.ts';
import { isAsleep } from './life.ts';
import type { Situation } from './situation.ts';
import { isCorrupt, isOutOfSpace } from './space/databases.ts';

/** Why clients cannot use a cluster that should serve them. */
export interface Outage {
  readonly reason: OutageReason;
  /** A few words: they stand before what the decision says, also in commit statuses. */
  readonly message: string;
}

export const outOfSpace = 'etcd is out of space and accepts no writes';

type Seen = Pick<Situation, 'cluster' | 'slots' | 'membership' | 'life' | 'effective'>;

/**
 * Why clients are not served now; `undefined`: they are, or the cluster is not meant to serve.
 *
 * No quorum is no outage of a cluster that is not born yet, hibernates or is being deleted.
 */
export function outageOf({ cluster, slots, membership, life, effective }: Seen): Outage | undefined {
  if (membership.kind === 'known') return refusedWrites(slots);
  const isBorn = life.stage !== 'unborn' && life.stage !== 'birth';
  const isToServe = effective.replicas > 0 && !slots.some(isAsleep) && cluster.metadata.deletionTimestamp === undefined;
  return isBorn && isToServe ? { reason: 'NoQuorum', message: 'no quorum answers' } : undefined;
}

function refusedWrites(slots: Seen['slots']): Outage | undefined {
  if (isCorrupt(slots))
    return { reason: 'Corrupt', message: 'etcd has raised the alarm CORRUPT and accepts no writes' };
  return isOutOfSpace(slots) ? { reason: 'NoSpace', message: outOfSpace } : undefined;
}
