import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdRestore } from '../../manifests/api/etcd-restore.ts';
import { type Kube, resources } from '../interfaces/kube.ts';
import type { RestoreObservation } from './decide.ts';

/** The cluster by a GET of its own: a list may be older than what another invocation has made. */
export async function observeRestore(
  restore: EtcdRestore,
  { kube, signal }: { readonly kube: Kube; readonly signal: AbortSignal },
): Promise<RestoreObservation> {
  const { namespace } = restore.metadata;
  const { cluster, backupName } = restore.spec;
  const [found, backup] = await Promise.all([
    kube.get<EtcdCluster>(resources.clusters, namespace, cluster.name, { signal }),
    backupName === undefined ? undefined : kube.get<EtcdBackup>(resources.backups, namespace, backupName, { signal }),
  ]);
  return { restore, cluster: found, backup };
}
