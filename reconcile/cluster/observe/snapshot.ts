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
import { listIn, type Where } from '../../objects/list-in.ts';
import type { Listed } from '../../stepping/lists.ts';
import type { Requested } from '../know/certificates/requested.ts';
import { listRequested } from './certificates/requested.ts';

/** What of a cluster changes when anything happens to it: these lists are read at each look. */
export interface MovingObjects {
  readonly cluster: EtcdCluster;
  readonly volumeClaims: readonly PersistentVolumeClaim[];
  readonly statefulSets: readonly StatefulSet[];
  readonly pods: readonly Pod[];
}

/** The objects of one cluster, as they were read. */
export interface ClusterObjects extends MovingObjects {
  readonly peers: readonly EtcdPeer[];
  readonly configMaps: readonly ConfigMap[];
  readonly services: readonly Service[];
  readonly disruptionBudgets: readonly PodDisruptionBudget[];
  readonly networkPolicies: readonly NetworkPolicy[];
  /** Of cert-manager. */
  readonly requested: Requested;
}

interface MovingOptions extends Where {
  /** What belongs to other clusters is not listed, as far as names tell it apart. */
  readonly onlyOf?: boolean | undefined;
}

interface Selected extends Where {
  readonly labelSelector: string;
}

interface AllOptions extends MovingOptions {
  /** Told of every ConfigMap of ours there, also of those that belong to no cluster. */
  readonly onConfigMaps?: ((listed: Listed<ConfigMap>) => void) | undefined;
}

/** What a skipped look compares, in one LIST a kind for the whole pass, however many clusters there are. */
export async function readMoving(
  kube: Kube,
  clusters: readonly EtcdCluster[],
  { onlyOf, ...where }: MovingOptions,
): Promise<readonly MovingObjects[]> {
  if (clusters.length === 0) return [];
  return listMoving(kube, clusters, { ...where, labelSelector: selectorFor(onlyOf ? clusters : undefined) });
}

async function listMoving(
  kube: Kube,
  clusters: readonly EtcdCluster[],
  options: Selected,
): Promise<readonly MovingObjects[]> {
  const [volumeClaims, statefulSets, pods] = await Promise.all([
    byCluster<PersistentVolumeClaim>(kube, resources.volumeClaims, options),
    byCluster<StatefulSet>(kube, resources.statefulSets, options),
    byCluster<Pod>(kube, resources.pods, options),
  ]);
  return clusters.map((cluster) => ({
    cluster,
    volumeClaims: volumeClaims(cluster),
    statefulSets: statefulSets(cluster),
    pods: pods(cluster),
  }));
}

/**
 * Everything that clusters own, in one LIST a kind for the whole pass, too.
 *
 * `clusters` were listed before: a lease taken on their resourceVersion then proves that nothing here is older than the
 * last step of each.
 */
export async function readObjects(
  kube: Kube,
  clusters: readonly EtcdCluster[],
  { onConfigMaps, onlyOf, ...where }: AllOptions,
): Promise<readonly ClusterObjects[]> {
  if (clusters.length === 0) return [];
  const options = { ...where, labelSelector: selectorFor(onlyOf ? clusters : undefined) };
  const [moving, peers, configMaps, services, budgets, policies] = await Promise.all([
    listMoving(kube, clusters, options),
    byCluster<EtcdPeer>(kube, resources.peers, options),
    byCluster<ConfigMap>(kube, resources.configMaps, options, onConfigMaps),
    byCluster<Service>(kube, resources.services, options),
    byCluster<PodDisruptionBudget>(kube, resources.disruptionBudgets, options),
    byCluster<NetworkPolicy>(kube, resources.networkPolicies, options),
  ]);
  const requested = await listRequested(kube, moving, where);
  return moving.map((one) => ({
    ...one,
    peers: peers(one.cluster),
    configMaps: configMaps(one.cluster),
    services: services(one.cluster),
    disruptionBudgets: budgets(one.cluster),
    networkPolicies: policies(one.cluster),
    requested: requested(one.cluster),
  }));
}

/** Characters of a selector. The API server takes a request line of 1 MiB, with its headers. */
const longestSelector = 256 * 1024;

/** What bears our label; of these clusters alone, where their names are few enough to be said. */
function selectorFor(clusters: readonly EtcdCluster[] | undefined): string {
  const ours = `${labels.managedBy}=etcd-ratchet`;
  const names = clusters && [...new Set(clusters.map(({ metadata }) => metadata.name))].sort().join(',');
  if (names === undefined || names.length > longestSelector) return ours;
  return `${ours},${labels.cluster} in (${names})`;
}

async function byCluster<T extends KubeObject>(
  kube: Kube,
  resource: Resource,
  options: Selected,
  onListed?: (listed: Listed<T>) => void,
): Promise<(cluster: EtcdCluster) => readonly T[]> {
  const listed = await listIn<T>(kube, resource, options);
  onListed?.(listed);
  const { items } = listed;
  const groups = Map.groupBy(items, ({ metadata }) => `${metadata.namespace}/${metadata.labels?.[labels.cluster]}`);
  return ({ metadata }) => groups.get(`${metadata.namespace}/${metadata.name}`) ?? [];
}
