import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import type {
  ConfigMap,
  NetworkPolicy,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
  StatefulSet,
} from '../../../manifests/kube-types.ts';
import { labels } from '../../../manifests/render/names.ts';
import { type Kube, type KubeObject, type Resource, resources } from '../../interfaces/kube.ts';
import type { Listed } from '../../stepping/lists.ts';
import type { Requested } from '../know/certificates/requested.ts';
import { listRequested } from './certificates/requested.ts';

/** The objects of one cluster, as they were read. */
export interface ClusterObjects {
  readonly cluster: EtcdCluster;
  readonly peers: readonly EtcdPeer[];
  readonly volumeClaims: readonly PersistentVolumeClaim[];
  readonly configMaps: readonly ConfigMap[];
  readonly statefulSets: readonly StatefulSet[];
  readonly pods: readonly Pod[];
  readonly services: readonly Service[];
  readonly disruptionBudgets: readonly PodDisruptionBudget[];
  readonly networkPolicies: readonly NetworkPolicy[];
  /** Of cert-manager. */
  readonly requested: Requested;
}

interface ReadOptions {
  readonly namespace: string | undefined;
  readonly signal: AbortSignal;
  /** Told of every ConfigMap of ours, also of those that belong to no cluster. */
  readonly onConfigMaps?: ((listed: Listed<ConfigMap>) => void) | undefined;
}

/**
 * Everything that clusters own, in one LIST a kind for the whole pass, however many clusters there are.
 *
 * `clusters` were listed before: a lease taken on their resourceVersion then proves that nothing here is older than the
 * last step of each.
 */
export async function readObjects(
  kube: Kube,
  clusters: readonly EtcdCluster[],
  { namespace, signal, onConfigMaps }: ReadOptions,
): Promise<readonly ClusterObjects[]> {
  if (clusters.length === 0) return [];
  const list = <T extends KubeObject>(resource: Resource, onListed?: (listed: Listed<T>) => void) =>
    byCluster<T>(kube, resource, { namespace, signal }, onListed);
  const [peers, volumeClaims, configMaps, statefulSets, pods, services, budgets, policies] = await Promise.all([
    list<EtcdPeer>(resources.peers),
    list<PersistentVolumeClaim>(resources.volumeClaims),
    list<ConfigMap>(resources.configMaps, onConfigMaps),
    list<StatefulSet>(resources.statefulSets),
    list<Pod>(resources.pods),
    list<Service>(resources.services),
    list<PodDisruptionBudget>(resources.disruptionBudgets),
    list<NetworkPolicy>(resources.networkPolicies),
  ]);
  const requested = await listRequested(kube, clusters, volumeClaims, { namespace, signal });
  return clusters.map((cluster) => ({
    cluster,
    peers: peers(cluster),
    volumeClaims: volumeClaims(cluster),
    configMaps: configMaps(cluster),
    statefulSets: statefulSets(cluster),
    pods: pods(cluster),
    services: services(cluster),
    disruptionBudgets: budgets(cluster),
    networkPolicies: policies(cluster),
    requested: requested(cluster),
  }));
}

async function byCluster<T extends KubeObject>(
  kube: Kube,
  resource: Resource,
  options: { readonly namespace: string | undefined; readonly signal: AbortSignal },
  onListed?: (listed: Listed<T>) => void,
): Promise<(cluster: EtcdCluster) => readonly T[]> {
  const listed = await kube.list<T>(resource, { ...options, labelSelector: `${labels.managedBy}=etcd-ratchet` });
  onListed?.(listed);
  const { items } = listed;
  const groups = Map.groupBy(items, ({ metadata }) => `${metadata.namespace}/${metadata.labels?.[labels.cluster]}`);
  return ({ metadata }) => groups.get(`${metadata.namespace}/${metadata.name}`) ?? [];
}
