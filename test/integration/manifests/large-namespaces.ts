import assert from 'node:assert/strict';
import type { KubeObject } from '../../../reconcile/interfaces/kube.ts';
import { inParallel } from '../../../reconcile/stepping/in-parallel.ts';
import type { ApiServer } from './api-server.ts';
import { cluster } from './tenants-objects.ts';

/** What a tenant who may edit a namespace makes there, with our label, so that every pass lists it. */

const annotations = { a: 'x'.repeat(255_000) };
const labels = { 'app.kubernetes.io/managed-by': 'etcd-ratchet' };

export const largeNamespaces: Readonly<Record<string, (api: ApiServer, namespace: string) => Promise<void>>> = {
  '70 ConfigMaps of 1 MB': (api, namespace) => configMaps(api, namespace, 70, { a: 'x'.repeat(1_000_000) }),
  '40 ConfigMaps of 20,000 keys': (api, namespace) =>
    configMaps(api, namespace, 40, Object.fromEntries(Array.from({ length: 20_000 }, (_, key) => [`k${key}`, '']))),
  '275 EtcdBackups with large annotations': (api, namespace) =>
    make(api, 275, `${ours}/${namespace}/etcdbackups`, (name) => ({
      apiVersion: 'etcd.ratchet.dev/v1alpha1',
      kind: 'EtcdBackup',
      metadata: { name, namespace, annotations },
      spec: { clusterName: 'x', to: { object: 's3://bucket/{{timestamp}}.db' } },
    })),
  '275 EtcdClusters with large annotations': (api, namespace) => clusters(api, namespace, 275),
  // Controllers make these with our labels, so admission refuses none.
  '275 Pods with large annotations': async (api, namespace) => {
    await api.kubectl(['-n', namespace, 'wait', '--for=create', 'serviceaccount/default', '--timeout=30s']);
    const containers = [{ name: 'a', image: 'registry.example.com/a' }];
    await make(api, 275, `/api/v1/namespaces/${namespace}/pods`, (name) => ({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, annotations, labels } },
      ...{ spec: { containers } },
    }));
  },
};

/** In the heap of a tick's container: with twenty more the namespace is left out. */
export const justFits = '250 EtcdClusters with large annotations, which just fit';

export function fitting(api: ApiServer, namespace: string): Promise<void> {
  return clusters(api, namespace, 250);
}

function clusters(api: ApiServer, namespace: string, count: number): Promise<void> {
  return make(api, count, `${ours}/${namespace}/etcdclusters`, (name) => {
    const made = cluster(namespace, name, { suspend: true });
    return { ...made, metadata: { ...made.metadata, annotations } };
  });
}

const ours = '/apis/etcd.ratchet.dev/v1alpha1/namespaces';

function configMaps(api: ApiServer, namespace: string, count: number, data: Readonly<Record<string, string>>) {
  return make(api, count, `/api/v1/namespaces/${namespace}/configmaps`, (name) => {
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels }, data };
  });
}

/** As ClusterRole edit lets her: by plain requests, since kubectl takes seconds for such objects. */
async function make(api: ApiServer, count: number, path: string, object: (name: string) => KubeObject): Promise<void> {
  await inParallel([...Array(count).keys()], 2, async (index) => {
    const { status, body } = await api.send('POST', path, object(`junk-${index}`));
    assert.equal(status, 201, body.message);
  });
}

/** Takes all of it away again. */
export async function cleared({ kubectl }: ApiServer, namespace: string): Promise<void> {
  const kinds = ['configmaps', 'pods', 'etcdclusters.etcd.ratchet.dev', 'etcdbackups.etcd.ratchet.dev'];
  await Promise.all(kinds.map((kind) => kubectl(['-n', namespace, 'delete', kind, '--all', '--wait=false'])));
}
