import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdRestore, EtcdRestoreStatus } from '../../manifests/api/etcd-restore.ts';
import type { Condition } from '../../manifests/api/metadata.ts';
import { isEnd, needsPerson, type RestoreReason } from './reasons.ts';

/** What there is to tell of a restore. */
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
    conditions: conditions({ reason, message }, status?.conditions, metadata.generation ?? 0, at),
  };
}

function conditions(
  { reason, message }: Pick<RestoreStatement, 'reason' | 'message'>,
  previous: readonly Condition[] | undefined,
  observedGeneration: number,
  at: string,
): readonly Condition[] {
  const stalled = needsPerson(reason);
  const said = [
    { type: 'Ready', status: reason === 'Restored' ? 'True' : 'False' } as const,
    ...(stalled ? [{ type: 'Stalled', status: 'True' } as const] : []),
  ];
  return said.map(({ type, status }) => {
    const before = previous?.find((condition) => condition.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : at;
    return { type, status, reason, message: message.slice(0, 2000), observedGeneration, lastTransitionTime };
  });
}

/** As Kubernetes writes times: whole seconds. */
function timestamp(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
