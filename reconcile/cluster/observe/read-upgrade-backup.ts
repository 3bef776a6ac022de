import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { isBeforeUpgradeOf } from '../../../manifests/render/backup-before-upgrade.ts';
import { conditionOf } from '../../conditions.ts';
import { type Kube, KubeError, resources } from '../../kube.ts';
import type { Observation, UpgradeBackupView } from '../know/observation.ts';
import { backupAhead } from '../know/upgrade-ahead.ts';

/** One read by name, and only while an upgrade is about to begin. */
export async function readUpgradeBackup(
  kube: Kube,
  seen: Pick<Observation, 'cluster' | 'slots'>,
  signal: AbortSignal,
): Promise<UpgradeBackupView | undefined> {
  const { cluster } = seen;
  const name = backupAhead(seen);
  if (name === undefined) return undefined;
  try {
    const found = await kube.get<EtcdBackup>(resources.backups, cluster.metadata.namespace, name, { signal });
    return found ? viewOf(found, cluster) : { kind: 'missing', name };
  } catch (error) {
    if (!(error instanceof KubeError) || error.class !== 'terminal') throw error;
    return { kind: 'unknown', cause: error.message };
  }
}

function viewOf(backup: EtcdBackup, cluster: EtcdCluster): UpgradeBackupView {
  const { name } = backup.metadata;
  const ready = conditionOf(backup.status, 'Ready');
  const message = ready?.message ?? 'not looked at yet';
  if (!isBeforeUpgradeOf(backup, cluster)) return { kind: 'known', name, state: 'foreign', message };
  const state = backup.status?.finishedAt === undefined ? 'under-way' : ready?.status === 'True' ? 'good' : 'failed';
  return { kind: 'known', name, state, message };
}
