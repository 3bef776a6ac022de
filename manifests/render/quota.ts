import type { EtcdPeerSpec } from '../api/etcd-peer.ts';
import { parseQuantity } from '../api/quantity.ts';
import { bearableQuota, MiB } from '../api/quota-room.ts';

/** etcd warns above 8 GiB: recovery and defragmentation become slow. */
const largestQuota = 8 * 1024 * MiB;

/**
 * `--quota-backend-bytes`: the spec's, or half of what the log leaves of the volume (of a tiny one a quarter). A
 * defragmentation, and a snapshot from the leader, write a second copy of the database. A full disk is worse than
 * NOSPACE: that alarm is disarmed after a compaction, but a full disk keeps etcd from starting.
 */
export function quotaBackendBytes({ etcd, storage }: Pick<EtcdPeerSpec, 'etcd' | 'storage'>): number {
  if (etcd?.quotaBackendBytes !== undefined) return Math.floor(parseQuantity(etcd.quotaBackendBytes));
  const bearable = bearableQuota(parseQuantity(storage.size));
  return Math.min(Math.max(MiB, Math.floor(bearable / MiB) * MiB), largestQuota);
}
