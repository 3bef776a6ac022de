import type { SnapshotSource } from '../../manifests/api/backup-settings.ts';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdRestore } from '../../manifests/api/etcd-restore.ts';
import { isRestoredBy } from '../../manifests/render/restored-cluster.ts';
import { judgeBackup, newerThan } from '../cluster/know/backups/fitness.ts';
import { isTrue } from '../objects/conditions.ts';
import { withCure } from '../reasons/cure.ts';
import type { RestoreReason } from './reasons.ts';

/** All that a restore's step may look at. Plain data. */
export interface RestoreObservation {
  readonly restore: EtcdRestore;
  /** The EtcdCluster of that name. */
  readonly cluster: EtcdCluster | undefined;
  /** The EtcdBackup that it names. */
  readonly backup: EtcdBackup | undefined;
}

export type RestoreDecision =
  | { readonly kind: 'rest' }
  | { readonly kind: 'make'; readonly snapshot: SnapshotSource }
  /** It is as it is told; `cluster`: the one that this restore made. */
  | Told;

interface Told {
  readonly kind: 'tell';
  readonly reason: RestoreReason;
  readonly message: string;
  readonly cluster?: EtcdCluster;
}

/** Pure. A cluster is made once: that one bears the restore's UID, and the status remembers it when it is gone. */
export function decideRestore({ restore, cluster, backup }: RestoreObservation): RestoreDecision {
  const { metadata, spec, status } = restore;
  if (metadata.deletionTimestamp !== undefined || status?.finishedAt !== undefined) return { kind: 'rest' };
  const { name } = spec.cluster;
  if (cluster && (isRestoredBy(cluster, metadata.uid ?? '') || cluster.metadata.uid === status?.clusterUID))
    return progress(cluster);
  if (status?.clusterUID !== undefined)
    return told('ClusterGone', `EtcdCluster ${name}, which was restored, was deleted: it is not made a second time`);
  if (cluster) return inTheWay(cluster);
  if (spec.from) return { kind: 'make', snapshot: spec.from };
  return fromBackup(restore, backup);
}

/** A cluster that exists ends the restore: it must not begin by itself, years later, when that one is deleted. */
export function inTheWay({ metadata }: EtcdCluster): Told {
  const { name, deletionTimestamp } = metadata;
  if (deletionTimestamp !== undefined)
    return told('ClusterLeaving', `EtcdCluster ${name} is being deleted: the restore begins when it is gone`);
  return told(
    'ClusterExists',
    withCure(
      `EtcdCluster ${name} exists, and this restore did not make it: it is left alone`,
      'create another EtcdRestore with another spec.cluster.name; for this name, delete that EtcdCluster, then this EtcdRestore, and create it again',
    ),
  );
}

function progress(cluster: EtcdCluster): RestoreDecision {
  const { metadata, status } = cluster;
  const isNow = status?.observedGeneration === metadata.generation;
  if (isTrue(status, 'Ready') && isNow)
    return told('Restored', `EtcdCluster ${metadata.name} is Ready, as etcd cluster ${status?.clusterID}`, cluster);
  const said = status?.lastDecision?.message ?? 'it was not looked at yet';
  return told('Restoring', `EtcdCluster ${metadata.name}: ${said}`, cluster);
}

function fromBackup({ spec }: EtcdRestore, backup: EtcdBackup | undefined): RestoreDecision {
  const name = spec.backupName ?? '';
  if (!backup) return told('BackupAbsent', `there is no EtcdBackup ${name} in this namespace`);
  const view = judgeBackup({ name }, backup);
  if (view.kind === 'unfit')
    return told('BackupNotReady', `nothing is restored from EtcdBackup ${name} now: ${view.why}`);
  const wanted = spec.cluster.spec.version;
  const taken = newerThan(wanted, view);
  if (taken !== undefined)
    return told(
      'SnapshotTooNew',
      `EtcdBackup ${name} was taken by etcd ${taken}, and spec.cluster.spec.version is ${wanted}: create an EtcdRestore with ${taken} or later`,
    );
  return { kind: 'make', snapshot: view.backup.snapshot };
}

function told(reason: RestoreReason, message: string, cluster?: EtcdCluster): Told {
  return { kind: 'tell', reason, message, ...(cluster && { cluster }) };
}
