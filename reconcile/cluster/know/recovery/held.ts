import type { VolumeRecord } from '../../../../manifests/render/volume-record.ts';
import type { MemberMetrics } from '../../../interfaces/etcd.ts';

/** How much of the data of its cluster a member has, at one moment. */
export interface Held {
  /** The entry up to which it knows that raft's log is committed. */
  readonly index: bigint;
  readonly revision: bigint;
  /** It has applied all of that: the revision is that of its data. */
  readonly isSettled: boolean;
}

/**
 * Negative: the first has more. Committed entries are the same everywhere, so the longer log has all of the shorter.
 * The revision comes first where it tells: the index on a disk may be behind what the database has, after a power
 * failure. Up to the further of both etcd keeps its data with --force-new-cluster, and drops what follows.
 */
export function byData(a: Held, b: Held): number {
  const byRevision = Number(b.revision - a.revision);
  return (a.isSettled && b.isSettled && byRevision) || Number(b.index - a.index) || byRevision;
}

/**
 * Metrics name no cluster: a member ID is of one cluster, and its volume says of which. All that was committed is
 * applied with the start. Before a member names the others, it may not have read its list yet.
 */
export function heldAnew(
  { memberId, clusterId }: VolumeRecord,
  metrics: MemberMetrics | undefined,
): (Held & Pick<MemberMetrics, 'memberId' | 'others'>) | undefined {
  if (!metrics || metrics.memberId !== memberId || clusterId === undefined) return undefined;
  const { hasLeader, isLearner, applied: index, revision, others } = metrics;
  if (hasLeader || isLearner || others.length === 0) return undefined;
  return { memberId, index, revision, isSettled: true, others };
}
