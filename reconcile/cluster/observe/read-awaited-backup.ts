import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { isBackupBefore, type Occasion } from '../../../manifests/render/backup-before.ts';
import { conditionOf, isTrue } from '../../conditions.ts';
import { type Kube, KubeError, type KubeObject, resources } from '../../kube.ts';
import { backupAhead } from '../know/backup-ahead.ts';
import type { AwaitedBackupView, Observation } from '../know/observation.ts';

/** One read by name, and only while what waits for it is about to begin. Of a deletion, its namespace as well. */
export async function readAwaitedBackup(
  kube: Kube,
  seen: Pick<Observation, 'cluster' | 'slots' | 'at'>,
  signal: AbortSignal,
): Promise<AwaitedBackupView | undefined> {
  const { cluster, at } = seen;
  const ahead = backupAhead(seen);
  if (ahead === undefined) return undefined;
  const { before, name } = ahead;
  const { namespace } = cluster.metadata;
  if (before === 'deletion' && (await isEnding(kube, namespace, signal))) return { kind: 'namespace-ends', before };
  try {
    const found = await kube.get<EtcdBackup>(resources.backups, namespace, name, { signal });
    return found ? viewOf(found, cluster, before, at) : { kind: 'missing', ...ahead };
  } catch (error) {
    if (!(error instanceof KubeError) || error.class !== 'terminal') throw error;
    return { kind: 'unknown', before, cause: error.message };
  }
}

/** Where it may not be asked, by a role of an earlier release, the API server's refusal of the EtcdBackup tells. */
async function isEnding(kube: Kube, namespace: string | undefined, signal: AbortSignal): Promise<boolean> {
  if (namespace === undefined) return false;
  try {
    const found = await kube.get<KubeObject>(resources.namespaces, undefined, namespace, { signal });
    return found?.metadata.deletionTimestamp !== undefined;
  } catch (error) {
    if (!(error instanceof KubeError) || error.class !== 'terminal') throw error;
    return false;
  }
}

function viewOf(backup: EtcdBackup, cluster: EtcdCluster, before: Occasion, at: Date): AwaitedBackupView {
  const { name, creationTimestamp } = backup.metadata;
  const { status } = backup;
  const message = conditionOf(status, 'Ready')?.message ?? 'not looked at yet';
  const askedAt = creationTimestamp === undefined ? at : new Date(creationTimestamp);
  const known = { kind: 'known', before, name, message, askedAt } as const;
  if (!isBackupBefore(backup, cluster, before)) return { ...known, state: 'foreign' };
  if (status?.finishedAt !== undefined) return { ...known, state: isTrue(status, 'Ready') ? 'good' : 'failed' };
  return { ...known, state: isTrue(status, 'Stalled') ? 'stalled' : 'under-way' };
}
