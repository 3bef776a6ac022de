import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdRestore, EtcdRestoreStatus } from '../../manifests/api/etcd-restore.ts';
import { conditionsFrom, type Said } from '../objects/conditions.ts';
import { withRunbook } from '../reasons/runbook.ts';
import { timestamp } from '../time/timestamp.ts';
import { isEnd, needsPerson, type RestoreReason } from './reasons.ts';

export interface RestoreStatement {
  readonly reason: RestoreReason;
  readonly message: string;
  readonly cluster?: EtcdCluster;
}

export function restoreStatus(
  { metadata, status }: EtcdRestore,
  { reason, message, cluster }: RestoreStatement,
  now: Date,
): EtcdRestoreStatus {
  const at = timestamp(now);
  const made = cluster?.metadata.uid;
  const object = cluster?.spec.bootstrap?.snapshot?.object;
  const clusterID = cluster?.status?.clusterID;
  const known = { ...status };
  return {
    ...known,
    observedGeneration: metadata.generation ?? 0,
    ...(object !== undefined && { object }),
    ...(made !== undefined && { clusterUID: made, startedAt: status?.startedAt ?? at }),
    ...(clusterID !== undefined && { clusterID }),
    ...(isEnd(reason) && { finishedAt: at }),
    conditions: conditionsFrom(statements({ reason, message }), status?.conditions, {
      generation: metadata.generation ?? 0,
      at: now,
    }),
  };
}

function statements({ reason, message }: RestoreStatement): readonly Said[] {
  return [
    { type: 'Ready', status: reason === 'Restored' ? 'True' : 'False', reason, message },
    ...(needsPerson(reason)
      ? [{ type: 'Stalled', status: 'True', reason, message: withRunbook(message, 'EtcdRestore') } as const]
      : []),
  ];
}
