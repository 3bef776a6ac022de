import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { inParallel } from '../../../reconcile/stepping/in-parallel.ts';
import { startSilentMember } from '../clients/hostile-member.ts';
import { install, startApiServer } from './api-server.ts';
import { adopting, cluster, reportPod } from './tenants-objects.ts';

/**
 * Two tenants of one installation, `payments` and `mallory`, who has many clusters whose only member takes each
 * connection and never answers. There is not nearly time for all of them.
 */
const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());
await api.kubectl(['apply', '-k', install]);
for (const namespace of ['payments', 'mallory']) await api.kubectl(['create', 'namespace', namespace]);
await api.kubectl(['-n', 'mallory', 'wait', '--for=create', 'serviceaccount/default', '--timeout=30s']);

const address = '127.0.0.68';
const silent = await startSilentMember(address);
after(() => silent[Symbol.asyncDispose]());
await reportPod(api, 'mallory', 'silent', { podIP: address, phase: 'Running' });

const account = { namespace: 'etcd-ratchet', name: 'etcd-ratchet' };
const kube = await api.kubeOf(account);
const kubeconfig = await api.kubeconfigOf(account);
const signal = () => ({ signal: AbortSignal.timeout(60_000) });
const many = 64;
/** Seconds. Each of them takes five and more, 32 at a time. */
const timeout = 15;

interface Ticked {
  readonly clusters: readonly { readonly namespace: string; readonly name: string; readonly outcome: string }[];
}

async function tick(): Promise<{ readonly code: unknown; readonly outcome: (key: string) => string | undefined }> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'etcd-ratchet-silent-'));
  const config = join(directory.path, 'kubeconfig');
  await writeFile(config, kubeconfig);
  const child = resolve(import.meta.dirname, 'tick-child.ts');
  const args = [child, '--kubeconfig', config, '--output=json', `--timeout=${timeout}`];
  const env = { ...process.env, POD_NAME: 'tick', POD_NAMESPACE: 'etcd-ratchet', POD_UID: 'tick' };
  const { promise, resolve: ended } = Promise.withResolvers<{ code: unknown; out: string }>();
  execFile(process.execPath, args, { env, timeout: 100_000, maxBuffer: 1 << 26 }, (error, out) =>
    ended({ code: error ? (error.code ?? error.signal) : 0, out }),
  );
  const { code, out } = await promise;
  const { clusters } = JSON.parse(out) as Ticked;
  return { code, outcome: (key) => clusters.find(({ namespace, name }) => `${namespace}/${name}` === key)?.outcome };
}

async function unknown(): Promise<number> {
  const { items } = await kube.list<EtcdCluster>(resources.clusters, { namespace: 'mallory', ...signal() });
  return items.filter(({ status }) => status?.lastDecision?.reason !== 'ExistingUnreachable').length;
}

test(`beside ${many} clusters that never answer, one of another namespace gets its step in each tick`, async () => {
  await inParallel([...Array(many).keys()], 8, (index) =>
    kube.create(resources.clusters, adopting('mallory', `silent-${index}`, 'silent'), signal()),
  );
  let left = many;
  // The first step of each is another one.
  for (let index = 0; index < 8 && left > 0; index += 1) {
    await kube.create(resources.clusters, cluster('payments', `orders-${index}`), signal());
    const { code, outcome } = await tick();
    assert.equal(outcome(`payments/orders-${index}`), 'acted');
    assert.equal(code, 0);
    left = await unknown();
  }
  assert.equal(left, 0);
});

test('so does one of the same namespace, once it is known which are silent', async () => {
  await kube.create(resources.clusters, cluster('mallory', 'plain'), signal());
  assert.equal((await tick()).outcome('mallory/plain'), 'acted');
});
