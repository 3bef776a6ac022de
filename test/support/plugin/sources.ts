import type { Container, Pod, Volume } from '../../../manifests/kube-types.ts';
import { type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import type { FakeKube } from '../fakes/kube.ts';

/**
 * Pods of etcd clusters as those make them that etcd-ratchet takes clusters over from, read in the code of these
 * operators in 2026. Every one has three members, and is called `legacy`.
 */
export interface Source {
  readonly podLabels: Readonly<Record<string, string>>;
  readonly pods: readonly Pod[];
  /** What stands between the operator's resource and the pods. */
  readonly between: readonly { readonly resource: Resource; readonly object: KubeObject }[];
  readonly peerUrlOf: (pod: string) => string;
}

const namespace = 'payments';
const replicaSets: Resource = { apiVersion: 'apps/v1', kind: 'ReplicaSet', plural: 'replicasets' };
const onPvc: readonly Volume[] = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];

const ownedBy = (kind: string, name: string, apiVersion: string) => ({
  ownerReferences: [{ kind, name, apiVersion, uid: `${kind}-${name}`, controller: true }],
});

interface Made {
  readonly labels: Readonly<Record<string, string>>;
  readonly owner: ReturnType<typeof ownedBy>;
  readonly etcd?: Partial<Container>;
  readonly volumes?: readonly Volume[];
}

function podOf(name: string, n: number, { labels, owner, etcd = {}, volumes = onPvc }: Made): Pod {
  const container: Container = { name: 'etcd', image: 'quay.io/coreos/etcd:v3.6.16', ...etcd };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels, ...owner },
    spec: { hostname: name, subdomain: 'legacy', containers: [container], volumes },
    status: { phase: 'Running', podIP: `10.0.0.${n + 1}` },
  };
}

const three = <T>(make: (n: number) => T): readonly T[] => [0, 1, 2].map(make);

function statefulSet(owner: Partial<ReturnType<typeof ownedBy>>): Source['between'][number] {
  const metadata = { namespace, name: 'legacy', ...owner };
  return { resource: resources.statefulSets, object: { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata } };
}

const ofTheSet = ownedBy('StatefulSet', 'legacy', 'apps/v1');
const inFull = (pod: string) => `http://${pod}.legacy.${namespace}.svc.cluster.local:2380`;
const short = (scheme: string) => (pod: string) => `${scheme}://${pod}.legacy.${namespace}.svc:2380`;

export function byHand(): Source {
  const labels = { app: 'legacy' };
  const pods = three((n) => podOf(`legacy-${n}`, n, { labels, owner: ofTheSet }));
  return { podLabels: labels, pods, between: [statefulSet({})], peerUrlOf: short('http') };
}

/** Until 2026-08: a StatefulSet, by default without any volume. */
export function etcdIoSet(): Source {
  const labels = { app: 'legacy', controller: 'legacy' };
  const args = ['--name=$(POD_NAME)', '--listen-client-urls=http://0.0.0.0:2379'];
  const etcd = { command: ['/usr/local/bin/etcd'], args };
  const pods = three((n) => podOf(`legacy-${n}`, n, { labels, owner: ofTheSet, etcd, volumes: [] }));
  const set = statefulSet(ownedBy('EtcdCluster', 'legacy', 'operator.etcd.io/v1alpha1'));
  return { podLabels: labels, pods, between: [set], peerUrlOf: inFull };
}

/** Since then: pods of its own. */
export function etcdIoPods(): Source {
  const labels = { app: 'legacy', controller: 'legacy' };
  const owner = ownedBy('EtcdCluster', 'legacy', 'operator.etcd.io/v1alpha1');
  return {
    podLabels: labels,
    pods: three((n) => podOf(`legacy-${n}`, n, { labels, owner })),
    between: [],
    peerUrlOf: inFull,
  };
}

/** A pod for each EtcdMember, with a name that the API server makes. */
export function cozystack(): Source {
  const podLabels = { 'etcd-operator.cozystack.io/cluster': 'legacy' };
  const common = { 'app.kubernetes.io/name': 'etcd', 'app.kubernetes.io/managed-by': 'etcd-operator' };
  const pods = three((n) => {
    const name = `legacy-7xq2${n}`;
    const labels = { ...podLabels, ...common, 'etcd-operator.cozystack.io/role': 'voter' };
    return podOf(name, n, { labels, owner: ownedBy('EtcdMember', name, 'etcd-operator.cozystack.io/v1alpha2') });
  });
  return { podLabels, pods, between: [], peerUrlOf: short('http') };
}

/** Peers that trust certificates which each made for itself: its default. */
export function aenix(): Source {
  const labels = {
    'app.kubernetes.io/name': 'etcd',
    'app.kubernetes.io/instance': 'legacy',
    'app.kubernetes.io/managed-by': 'etcd-operator',
  };
  const etcd = { command: ['etcd', '--name=$(POD_NAME)', '--auto-tls', '--peer-auto-tls'] };
  const pods = three((n) => podOf(`legacy-${n}`, n, { labels, owner: ofTheSet, etcd }));
  const set = statefulSet(ownedBy('EtcdCluster', 'legacy', 'etcd.aenix.io/v1alpha1'));
  return { podLabels: labels, pods, between: [set], peerUrlOf: short('https') };
}

/** A ReplicaSet for each EtcdPeer, and all of etcd's settings in variables. */
export function improbable(): Source {
  const podLabels = { 'etcd.improbable.io/cluster-name': 'legacy' };
  const peers = three((n) => `legacy-${n}`);
  const pods = peers.map((peer, n) => {
    const labels = { ...podLabels, 'app.kubernetes.io/name': 'etcd', 'etcd.improbable.io/peer-name': peer };
    const etcd = { env: [{ name: 'ETCD_DATA_DIR', value: '/var/lib/etcd' }] };
    return podOf(`${peer}-x7k2p`, n, { labels, owner: ownedBy('ReplicaSet', peer, 'apps/v1'), etcd });
  });
  const between = peers.map((peer) => {
    const metadata = { namespace, name: peer, ...ownedBy('EtcdPeer', peer, 'etcd.improbable.io/v1alpha1') };
    return { resource: replicaSets, object: { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata } };
  });
  return { podLabels, pods, between, peerUrlOf: (pod) => `http://${pod.slice(0, 8)}.legacy:2380` };
}

/** etcd within a wrapper, and a sidecar that restores and backs up. */
export function druid(): Source {
  const podLabels = { 'app.kubernetes.io/part-of': 'legacy', 'app.kubernetes.io/component': 'etcd-statefulset' };
  const labels = { ...podLabels, 'app.kubernetes.io/name': 'legacy', 'app.kubernetes.io/managed-by': 'etcd-druid' };
  const pods = three((n) => podOf(`legacy-${n}`, n, { labels, owner: ofTheSet }));
  const set = statefulSet(ownedBy('Etcd', 'legacy', 'druid.gardener.cloud/v1alpha1'));
  return { podLabels, pods, between: [set], peerUrlOf: short('http') };
}

/** Its entrypoint puts members on the list, and takes them off. */
export function bitnami(): Source {
  const podLabels = {
    'app.kubernetes.io/instance': 'legacy',
    'app.kubernetes.io/name': 'etcd',
    'app.kubernetes.io/component': 'etcd',
  };
  const labels = { ...podLabels, 'app.kubernetes.io/managed-by': 'Helm', 'helm.sh/chart': 'etcd-12.0.18' };
  const etcd = { env: [{ name: 'ETCD_DATA_DIR', value: '/bitnami/etcd/data' }] };
  const pods = three((n) => podOf(`legacy-${n}`, n, { labels, owner: ofTheSet, etcd }));
  return { podLabels, pods, between: [statefulSet({})], peerUrlOf: inFull };
}

export function kamaji(): Source {
  const podLabels = { 'app.kubernetes.io/instance': 'legacy', 'app.kubernetes.io/name': 'kamaji-etcd' };
  const etcd = { command: ['etcd', '--data-dir=/var/run/etcd', '--client-cert-auth=true'] };
  const pods = three((n) => podOf(`legacy-${n}`, n, { labels: podLabels, owner: ofTheSet, etcd }));
  return { podLabels, pods, between: [statefulSet({})], peerUrlOf: inFull };
}

/** With that change to every pod. */
export function changed(source: Source, change: Partial<Pod['spec']>): Source {
  return { ...source, pods: source.pods.map((pod) => ({ ...pod, spec: { ...pod.spec, ...change } })) };
}

export function putInto(kube: FakeKube, { pods, between }: Source): void {
  kube.seed(resources.pods, ...pods);
  for (const { resource, object } of between) kube.seed(resource, object);
}
