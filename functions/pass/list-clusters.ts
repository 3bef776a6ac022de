import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { type Kube, resources } from '../../reconcile/interfaces/kube.ts';

/** @throws {KubeError} */
export async function listClusters(
  kube: Kube,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<readonly EtcdCluster[]> {
  return (await kube.list<EtcdCluster>(resources.clusters, { namespace, signal })).items;
}
