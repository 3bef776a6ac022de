/** Clusters of one member, shaped as operators make them: without their resources, which nothing here serves. */

interface Relic {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

const image = 'quay.io/coreos/etcd:v3.6.16';
const readinessProbe = { httpGet: { path: '/readyz', port: 2381 }, periodSeconds: 1, timeoutSeconds: 8 };
const ports = [
  { name: 'client', port: 2379 },
  { name: 'peer', port: 2380 },
];

function headless(namespace: string, name: string, selector: Relic['labels']): object {
  const spec = { clusterIP: 'None', publishNotReadyAddresses: true, selector, ports };
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec };
}

/** A ReplicaSet of one pod for each peer, a PVC beside it, variables for flags, and names within the namespace. */
export function likeImprobable(namespace: string, { name, labels }: Relic): readonly object[] {
  const peer = `${name}-0`;
  const variables = {
    ETCD_NAME: peer,
    ETCD_DATA_DIR: '/var/lib/etcd',
    ETCD_INITIAL_CLUSTER: `${peer}=http://${peer}.${name}:2380`,
    ETCD_INITIAL_CLUSTER_TOKEN: name,
    ETCD_INITIAL_CLUSTER_STATE: 'new',
    ETCD_INITIAL_ADVERTISE_PEER_URLS: `http://${peer}.${name}:2380`,
    ETCD_ADVERTISE_CLIENT_URLS: `http://${peer}.${name}:2379`,
    ETCD_LISTEN_PEER_URLS: 'http://0.0.0.0:2380',
    ETCD_LISTEN_CLIENT_URLS: 'http://0.0.0.0:2379',
    ETCD_LISTEN_METRICS_URLS: 'http://0.0.0.0:2381',
  };
  const container = {
    ...{ name: 'etcd', image, command: ['etcd'], readinessProbe },
    env: Object.entries(variables).map(([key, value]) => ({ name: key, value })),
    volumeMounts: [{ name: 'etcd-data', mountPath: '/var/lib/etcd' }],
  };
  const volumes = [{ name: 'etcd-data', persistentVolumeClaim: { claimName: peer } }];
  const storage = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const template = {
    metadata: { labels },
    spec: { hostname: peer, subdomain: name, containers: [container], volumes },
  };
  return [
    headless(namespace, name, labels),
    { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: peer, namespace }, spec: storage },
    {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: peer, namespace },
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    },
  ];
}

/** Plaintext for clients, and certificates of its own making between peers. */
export function likeAenix(namespace: string, { name, labels }: Relic): readonly object[] {
  const peer = `https://${name}-0.${name}.${namespace}.svc:2380`;
  const flags = {
    name: `${name}-0`,
    'data-dir': '/var/run/etcd/default.etcd',
    'listen-peer-urls': 'https://0.0.0.0:2380',
    'listen-client-urls': 'http://0.0.0.0:2379',
    'listen-metrics-urls': 'http://0.0.0.0:2381',
    'initial-advertise-peer-urls': peer,
    'advertise-client-urls': `http://${name}-0.${name}.${namespace}.svc:2379`,
    'initial-cluster': `${name}-0=${peer}`,
  };
  const container = {
    ...{ name: 'etcd', image, readinessProbe },
    command: ['etcd', ...Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`), '--peer-auto-tls'],
    volumeMounts: [{ name: 'data', mountPath: '/var/run/etcd' }],
  };
  const template = {
    metadata: { labels },
    spec: { containers: [container], volumes: [{ name: 'data', emptyDir: {} }] },
  };
  const spec = { serviceName: name, replicas: 1, selector: { matchLabels: labels }, template };
  return [
    headless(namespace, name, labels),
    { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name, namespace }, spec },
  ];
}
