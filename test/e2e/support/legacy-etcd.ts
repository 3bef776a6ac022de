import type { Pod } from '../../../manifests/kube-types.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { post } from '../../integration/clients/etcd-members.ts';
import type { Scene } from './scene.ts';
import { until } from './until.ts';

/** An etcd of others: a StatefulSet with its headless Service, in plaintext, as many charts have it. */
export interface LegacyEtcd {
  /** Hexadecimal, as a status says it. */
  readonly clusterId: string;
  put(key: string, value: string): Promise<void>;
  /** Every key and value as etcd's gateway says them, and the revision. */
  read(): Promise<{ readonly revision: string; readonly keys: readonly unknown[] }>;
  /** Any request to etcd's gateway. */
  ask(path: string, body: object): Promise<Record<string, unknown>>;
}

export async function legacyEtcd(
  scene: Scene,
  name: string,
  replicas: number,
  version = '3.6.16',
): Promise<LegacyEtcd> {
  const { kubectl, namespace, list } = scene;
  const stdin = objects(namespace, name, { replicas, version })
    .map((one) => JSON.stringify(one))
    .join('\n---\n');
  await kubectl(['apply', '-f', '-'], { stdin });
  const pods = async () => (await list<Pod>(resources.pods)).filter(({ metadata }) => metadata.labels?.app === name);
  const ready = async () => {
    const found = (await pods()).filter(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    );
    return found.length === replicas ? found : undefined;
  };
  const [first] = await until(`${name} is Ready`, ready, { within: 120 });
  const url = `http://${first?.status?.podIP}:2379`;
  const ask = (path: string, body: object) => post(url, path, body);
  const { header } = (await ask('/v3/maintenance/status', {})) as { readonly header: { readonly cluster_id: string } };
  return {
    clusterId: BigInt(header.cluster_id).toString(16),
    ask,
    put: async (key, value) => {
      await ask('/v3/kv/put', { key: base64(key), value: base64(value) });
    },
    read: async () => {
      const found = await ask('/v3/kv/range', { key: 'AA==', range_end: 'AA==' });
      const { revision } = found.header as { readonly revision: string };
      return { revision, keys: (found.kvs ?? []) as readonly unknown[] };
    },
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function objects(
  namespace: string,
  name: string,
  { replicas, version }: { readonly replicas: number; readonly version: string },
): readonly object[] {
  const labels = { app: name };
  const host = (pod: string) => `http://${pod}.${name}.${namespace}.svc`;
  const members = Array.from({ length: replicas }, (_, n) => `${name}-${n}=${host(`${name}-${n}`)}:2380`);
  const own = host('$(NAME)');
  const container = {
    name: 'etcd',
    image: `quay.io/coreos/etcd:v${version}`,
    command: ['/usr/local/bin/etcd'],
    args: [
      ...['--name=$(NAME)', '--data-dir=/data/etcd', `--initial-cluster=${members.join(',')}`],
      ...['--listen-client-urls=http://0.0.0.0:2379', `--advertise-client-urls=${own}:2379`],
      ...['--listen-peer-urls=http://0.0.0.0:2380', `--initial-advertise-peer-urls=${own}:2380`],
    ],
    env: [{ name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
    readinessProbe: { tcpSocket: { port: 2379 }, periodSeconds: 1 },
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
  };
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace },
      spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector: labels, ports: [{ port: 2379 }] },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name, namespace },
      spec: {
        replicas,
        serviceName: name,
        podManagementPolicy: 'Parallel',
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    },
  ];
}
