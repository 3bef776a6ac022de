import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdClusterStatus } from '../../../manifests/api/etcd-cluster-status.ts';
import type { ConfigMap } from '../../../manifests/kube-types.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { typedIn } from '../../support/docs/typed-by.ts';
import { install, startApiServer } from './api-server.ts';
import { adopting, cluster, reportPod } from './tenants-objects.ts';

/**
 * Two tenants of one installation, `payments` and `mallory`, one of whose clusters ends each process that asks it. It
 * stands for what no bound on answers holds yet: the process is killed as it connects.
 */
const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());
await api.kubectl(['apply', '-k', install]);
for (const namespace of ['payments', 'mallory']) await api.kubectl(['create', 'namespace', namespace]);
// Without it, no pod can be made.
for (const namespace of ['mallory', 'etcd-ratchet'])
  await api.kubectl(['-n', namespace, 'wait', '--for=create', 'serviceaccount/default', '--timeout=30s']);

const home = 'etcd-ratchet';
const account = { namespace: home, name: 'etcd-ratchet' };
const kube = await api.kubeOf(account);
const kubeconfig = await api.kubeconfigOf(account);
const signal = () => ({ signal: AbortSignal.timeout(30_000) });
const deadly = '127.0.0.66';

await reportPod(api, 'mallory', 'deadly', { podIP: deadly, phase: 'Running' });
await reportPod(api, 'mallory', 'silent', { podIP: '127.0.0.67', phase: 'Running' });
for (const [name, app] of [
  ['deadly', 'deadly'],
  ['harmless', 'silent'],
] as const)
  await kube.create(resources.clusters, adopting('mallory', name, app), signal());
await kube.create(resources.clusters, cluster('payments', 'orders'), signal());

/** One tick in a pod of that name. How it ended is told as kubelet tells it. */
async function tick(name: string): Promise<'killed' | 'done'> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'etcd-ratchet-silent-'));
  const config = join(directory.path, 'kubeconfig');
  await writeFile(config, kubeconfig);
  const uid = await reportPod(api, home, name, { phase: 'Running' });
  const preload = pathToFileURL(resolve(import.meta.dirname, 'dies-asking.ts')).href;
  const args = [`--import=${preload}`, resolve(import.meta.dirname, 'tick-child.ts'), '--kubeconfig', config];
  const env = {
    ...process.env,
    POD_NAME: name,
    POD_NAMESPACE: home,
    POD_UID: uid,
    CRONJOB_NAME: 'etcd-ratchet',
    RATCHET_TEST_DIES_AT: deadly,
  };
  const { promise, resolve: ended } = Promise.withResolvers<{ code: unknown; said: string }>();
  execFile(process.execPath, args, { env, timeout: 100_000 }, (error, out, err) =>
    ended({ code: error ? (error.signal ?? error.code) : 0, said: `${out}${err}`.slice(-3000) }),
  );
  const { code, said } = await promise;
  assert.ok(code === 'SIGKILL' || code === 0, `${code}: ${said}`);
  if (code === 0) return 'done';
  await reportPod(api, home, name, { phase: 'Failed', exitCode: 137 });
  return 'killed';
}

async function asking(name: string): Promise<readonly string[]> {
  const record = await kube.get<ConfigMap>(resources.configMaps, home, `${name}-asking`, signal());
  return record?.data?.asking?.split('\n').toSorted() ?? [];
}

async function status(namespace: string, name: string): Promise<Partial<EtcdClusterStatus>> {
  const found = await kube.get<EtcdCluster>(resources.clusters, namespace, name, signal());
  return found?.status ?? {};
}

test('a cluster that ends passes is found, and then all others get their steps before it', async () => {
  assert.equal(await tick('first'), 'killed');
  assert.deepEqual(await asking('first'), []);
  assert.equal(await tick('second'), 'killed');
  assert.ok((await asking('second')).includes('mallory/deadly'));
  for (const name of ['third', 'fourth']) {
    assert.equal(await tick(name), 'killed');
    assert.deepEqual(await asking(name), ['mallory/deadly']);
  }
  // The third had all that the second was asking to ask alone, in some order.
  assert.ok((await status('payments', 'orders')).history?.length, 'orders got no step');
  assert.ok((await status('mallory', 'harmless')).lastDecision, 'harmless was not looked at');
});

test('the commands of its runbook say which cluster it is, and what ended', async () => {
  const blocks = typedIn('integration/manifests/silent-end')(
    'docs/runbooks/kubernetes-refuses.md#a-pass-ends-without-a-word',
  );
  const [events = '', pods = ''] = await Promise.all(
    blocks
      .flatMap(({ text }) => text.trim().split('\n'))
      .map((line) => api.kubectl(line.replace(/^kubectl /, '').split(' '))),
  );
  assert.match(events, /AskedAlone\s+etcdcluster\/deadly/);
  assert.match(pods, /fourth/);
});

test('once it does no harm, the pass ends well, and it counts as any other', async () => {
  await api.kubectl(['-n', 'mallory', 'delete', 'pod', 'deadly', '--force']);
  assert.equal(await tick('fifth'), 'done');
  assert.equal(await tick('sixth'), 'done');
  const record = await kube.get<ConfigMap>(resources.configMaps, home, 'sixth-asking', signal());
  assert.equal(record?.data?.suspects, '');
});
