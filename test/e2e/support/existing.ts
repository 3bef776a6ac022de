import assert from 'node:assert/strict';
import type { Pod } from '../../../manifests/kube-types.ts';
import { urlOf } from '../../../manifests/render/hosts.ts';
import { labelSelector } from '../../../manifests/render/names.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { type Access, connectTo } from './client.ts';
import type { Scene } from './scene.ts';
import { until } from './until.ts';

/** An etcd cluster that etcd-ratchet did not make. */
export interface Existing {
  readonly name: string;
  readonly podLabels: Readonly<Record<string, string>>;
  /** One of its pods, as an application would reach it. */
  readonly access: Access;
  readonly clusterID: string;
  readonly memberIDs: readonly string[];
}

export interface ByHand {
  readonly name: string;
  readonly replicas: number;
  readonly version?: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Absent: no TLS. Secrets with `tls.crt`, `tls.key` and `ca.crt`. */
  readonly tls?: { readonly peer: string; readonly server: string };
}

/** A headless Service and a StatefulSet with a PVC for each member: what people write by hand. */
export function byHand(
  namespace: string,
  { name, replicas, version = '3.6.16', labels, tls }: ByHand,
): readonly object[] {
  const scheme = tls ? 'https' : 'http';
  const host = (member: string) => `${member}.${name}.${namespace}.svc`;
  const members = Array.from({ length: replicas }, (_, n) => `${name}-${n}`);
  const mounted = tls
    ? [
        { name: 'peer-tls', secret: tls.peer },
        { name: 'server-tls', secret: tls.server },
      ]
    : [];
  const files = (prefix: string, at: string) => [
    `--${prefix}cert-file=/tls/${at}/tls.crt`,
    `--${prefix}key-file=/tls/${at}/tls.key`,
    `--${prefix}trusted-ca-file=/tls/${at}/ca.crt`,
    `--${prefix}client-cert-auth`,
  ];
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace },
      spec: {
        clusterIP: 'None',
        publishNotReadyAddresses: true,
        selector: labels,
        ports: [
          { name: 'client', port: 2379 },
          { name: 'peer', port: 2380 },
        ],
      },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name, namespace },
      spec: {
        serviceName: name,
        replicas,
        podManagementPolicy: 'Parallel',
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            containers: [
              {
                name: 'etcd',
                image: `quay.io/coreos/etcd:v${version}`,
                command: ['etcd'],
                args: [
                  '--name=$(POD_NAME)',
                  '--data-dir=/data/etcd',
                  `--listen-peer-urls=${scheme}://0.0.0.0:2380`,
                  `--listen-client-urls=${scheme}://0.0.0.0:2379`,
                  '--listen-metrics-urls=http://0.0.0.0:2381',
                  `--initial-advertise-peer-urls=${scheme}://${host('$(POD_NAME)')}:2380`,
                  `--advertise-client-urls=${scheme}://${host('$(POD_NAME)')}:2379`,
                  `--initial-cluster=${members.map((one) => `${one}=${scheme}://${host(one)}:2380`).join(',')}`,
                  '--initial-cluster-state=new',
                  '--initial-cluster-token=by-hand',
                  ...(tls ? [...files('', 'server'), ...files('peer-', 'peer')] : []),
                ],
                env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
                readinessProbe: { httpGet: { path: '/readyz', port: 2381 }, periodSeconds: 1, timeoutSeconds: 8 },
                volumeMounts: [
                  { name: 'data', mountPath: '/data' },
                  ...mounted.map((one) => ({ name: one.name, mountPath: `/tls/${one.name.replace('-tls', '')}` })),
                ],
              },
            ],
            volumes: mounted.map((one) => ({ name: one.name, secret: { secretName: one.secret } })),
          },
        },
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

/** Makes it, and waits until all of its members serve. */
export async function startExisting(
  { kubectl, kube, namespace }: Scene,
  objects: readonly object[],
  { name, replicas, labels }: Pick<ByHand, 'name' | 'replicas' | 'labels'>,
  credentials?: Access['credentials'],
): Promise<Existing> {
  await kubectl(['apply', '--server-side', '-f', '-'], {
    stdin: objects.map((object) => JSON.stringify(object)).join('\n---\n'),
  });
  const pods = await until(
    `${replicas} pods of ${name} Ready`,
    async () => {
      const { items } = await kube.list<Pod>(resources.pods, { namespace, labelSelector: labelSelector(labels) });
      const ready = items.filter(({ status }) =>
        status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'),
      );
      return ready.length === replicas && ready;
    },
    { within: 90 },
  );
  const [first] = pods;
  assert.ok(first?.status?.podIP);
  const access: Access = {
    url: urlOf(credentials ? 'https' : 'http', first.status.podIP, 2379),
    serverName: `${first.metadata.name}.${name}.${namespace}.svc`,
    ...(credentials && { credentials }),
  };
  const client = connectTo(access, 5000);
  try {
    const { header, members } = await client.cluster.memberList({ linearizable: true });
    const inHex = (id: string) => BigInt(id).toString(16);
    return {
      name,
      podLabels: labels,
      access,
      clusterID: inHex(header.cluster_id),
      memberIDs: members.map(({ ID }) => inHex(ID)),
    };
  } finally {
    client.close();
  }
}
