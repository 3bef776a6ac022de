import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { inParallel } from '../../../reconcile/stepping/in-parallel.ts';
import { typedIn } from '../../support/docs/typed-by.ts';
import { install, startApiServer } from './api-server.ts';

/**
 * Two tenants of one installation, `payments` and `mallory`, who may edit a namespace of her own. What she makes there
 * bears our label, so every pass lists it. A tick has its own account, and a small heap.
 */
const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());
await api.kubectl(['apply', '-k', install]);
// What was there before it came is read all the same.
await api.kubectl(['delete', 'validatingadmissionpolicybinding', 'etcd-ratchet-annotations']);
for (const namespace of ['payments', 'mallory']) await api.kubectl(['create', 'namespace', namespace]);

/** Of the heap, so that less is large; and what the whole process may take. */
const node = ['--max-old-space-size=128', '--max-semi-space-size=16'];
const mostMiB = 320;
const account = { namespace: 'etcd-ratchet', name: 'etcd-ratchet' };
const kube = await api.kubeOf(account);
const kubeconfig = await api.kubeconfigOf(account);
const signal = () => ({ signal: AbortSignal.timeout(30_000) });

interface Ticked {
  readonly clusters: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly outcome: string;
    readonly reason: string;
  }[];
  readonly namespacesLeftOut?: Readonly<Record<string, { readonly plural: string }>>;
}

async function tick(): Promise<Ticked & { readonly peakMiB: number }> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'etcd-ratchet-large-'));
  const config = join(directory.path, 'kubeconfig');
  await writeFile(config, kubeconfig);
  const child = resolve(import.meta.dirname, 'tick-child.ts');
  const args = [...node, child, '--kubeconfig', config, '--output=json'];
  const env = { ...process.env, POD_NAME: 'tick', POD_NAMESPACE: 'etcd-ratchet', POD_UID: 'tick' };
  const { promise, resolve: done } = Promise.withResolvers<{ code: unknown; out: string; err: string }>();
  execFile(process.execPath, args, { env, timeout: 100_000, maxBuffer: 1 << 26 }, (error, out, err) =>
    done({ code: error ? (error.code ?? error.signal) : 0, out, err }),
  );
  const { code, out, err } = await promise;
  assert.equal(code, 0, `${out.slice(-2000)}\n${err.slice(-2000)}`);
  const peakMiB = Number(/^peak (\d+) MiB$/m.exec(err)?.[1]);
  return { ...(JSON.parse(out) as Ticked), peakMiB };
}

/** As ClusterRole edit lets her: by plain requests, since kubectl takes seconds for such objects. */
async function make(count: number, path: string, object: (index: number) => KubeObject): Promise<void> {
  const indices = Array.from({ length: count }, (_, index) => index);
  await inParallel(indices, 2, async (index) => {
    const { status, body } = await api.send('POST', path, object(index));
    assert.equal(status, 201, body.message);
  });
}

/** What the commands of the runbook print, each. */
function printedByRunbook(): Promise<readonly string[]> {
  const blocks = typedIn('integration/manifests/large-namespace')(
    'docs/runbooks/kubernetes-refuses.md#a-namespace-is-left-out',
  );
  const lines = blocks.flatMap(({ text }) => text.trim().split('\n'));
  assert.equal(lines.length, 3);
  return inParallel(lines, 1, (line) =>
    api.kubectl(
      line
        .replace(/^kubectl /, '')
        .replace('"$NAMESPACE"', 'mallory')
        .split(' '),
    ),
  );
}

const cluster = (namespace: string, name: string, annotations = {}) => ({
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdCluster',
  metadata: { name, namespace, annotations },
  spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' }, suspend: namespace === 'mallory' },
});

const configMaps = '/api/v1/namespaces/mallory/configmaps';
const ours = '/apis/etcd.ratchet.dev/v1alpha1/namespaces/mallory';
const configMap = (data: Readonly<Record<string, string>>) => (index: number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `junk-${index}`, namespace: 'mallory', labels: { 'app.kubernetes.io/managed-by': 'etcd-ratchet' } },
  data,
});
const annotation = { a: 'x'.repeat(255_000) };

const attacks = {
  '70 ConfigMaps of 1 MB': () => make(70, configMaps, configMap({ a: 'x'.repeat(1_000_000) })),
  '40 ConfigMaps of 20,000 keys': () =>
    make(40, configMaps, configMap(Object.fromEntries(Array.from({ length: 20_000 }, (_, key) => [`k${key}`, ''])))),
  '275 EtcdBackups with large annotations': () =>
    make(275, `${ours}/etcdbackups`, (index) => ({
      apiVersion: 'etcd.ratchet.dev/v1alpha1',
      kind: 'EtcdBackup',
      metadata: { name: `junk-${index}`, namespace: 'mallory', annotations: annotation },
      spec: { clusterName: 'x', to: { object: 's3://bucket/{{timestamp}}.db' } },
    })),
  '275 EtcdClusters with large annotations': () =>
    make(275, `${ours}/etcdclusters`, (index) => cluster('mallory', `junk-${index}`, annotation)),
};
const kinds = ['configmaps', 'etcdclusters.etcd.ratchet.dev', 'etcdbackups.etcd.ratchet.dev'];

for (const [index, [what, attack]] of Object.entries(attacks).entries()) {
  test(`beside ${what} in one namespace, a cluster of another one is born`, async () => {
    const name = `orders-${index}`;
    await kube.create(resources.clusters, cluster('payments', name), signal());
    await attack();
    const { clusters, namespacesLeftOut = {}, peakMiB } = await tick();
    const orders = clusters.find((one) => one.namespace === 'payments' && one.name === name);
    assert.equal(orders?.outcome, 'acted', JSON.stringify(orders));
    assert.deepEqual(Object.keys(namespacesLeftOut), ['mallory']);
    assert.ok(peakMiB < mostMiB, `${peakMiB} MiB`);
    const [events = '', labelled = '', ofOurs = ''] = await printedByRunbook();
    assert.match(events, /NamespaceLeftOut/);
    assert.match(`${labelled}${ofOurs}`, /junk-0/);
    await Promise.all(kinds.map((kind) => api.kubectl(['-n', 'mallory', 'delete', kind, '--all', '--wait=false'])));
  });
}
