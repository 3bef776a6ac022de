import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { backupDefaults } from '../../../manifests/api/spec-defaults.ts';
import { backupPolicy } from '../../../manifests/render/backup-before.ts';
import { isTrue } from '../../conditions.ts';
import { type Kube, KubeError, resources } from '../../kube.ts';
import { backupFinalizer } from '../know/marks.ts';
import type { BackupOfSleep, Observation } from '../know/observation.ts';
import { backupSleptOn } from '../know/slept-on.ts';

type Seen = Pick<Observation, 'cluster' | 'slots'>;

/**
 * The backup that a cluster was put to sleep on: asked only where it is to be its last one, or a plan may delete it.
 *
 * @throws {KubeError} for what may pass
 */
export async function readBackupOfSleep(
  kube: Kube,
  { cluster, slots }: Seen,
  { thorough, signal }: { readonly thorough: boolean; readonly signal: AbortSignal },
): Promise<BackupOfSleep | undefined> {
  const { namespace, deletionTimestamp, finalizers } = cluster.metadata;
  const isOwed = deletionTimestamp !== undefined && finalizers?.includes(backupFinalizer) === true;
  if (backupPolicy(cluster, 'deletion') === 'Never' || !(isOwed || thorough)) return undefined;
  const wanted = backupSleptOn(slots);
  if (!wanted) return undefined;
  const { name } = wanted;
  try {
    const found = await kube.get<EtcdBackup>(resources.backups, namespace, name, { signal });
    const unfit = whyUnfit(found, wanted, cluster);
    return { name, ...(unfit !== undefined && { unfit }) };
  } catch (error) {
    if (!(error instanceof KubeError) || error.class !== 'terminal') throw error;
    return { name, unfit: `it cannot be read: ${error.message}` };
  }
}

function whyUnfit(
  found: EtcdBackup | undefined,
  { uid, clusterId }: NonNullable<ReturnType<typeof backupSleptOn>>,
  { metadata, spec }: EtcdCluster,
): string | undefined {
  if (!found || found.metadata.uid !== uid) return 'it was deleted';
  if (found.metadata.deletionTimestamp !== undefined) return 'it is being deleted';
  const { status } = found;
  if (found.spec.clusterName !== metadata.name || status?.clusterID !== clusterId)
    return `it is of etcd cluster ${status?.clusterID ?? '(unknown)'}, and the volumes are of ${clusterId}`;
  if (!isTrue(status, 'Ready')) return 'it is not Ready';
  const isProven = status.verified !== undefined || (spec.backup?.verify ?? backupDefaults.verify) === 'Trailer';
  return isProven ? undefined : 'it was not restored and compared, as spec.backup.verify asks';
}
