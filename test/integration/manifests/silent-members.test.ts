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
for (const namespace of ['payments', 'mallory', 'crowd']) await api.kubectl(['create', 'namespace', namespace]);
for (const namespace of ['mallory', 'crowd'])
  await api.kubectl(['-n', namespace, 'wait', '--for=create', 'serviceaccount/default', '--timeout=30s']);

const address = '127.0.0.68';
const silent = await startSilentMember(address);
after(() => silent[Symbol.asyncDispose]());
for (const namespace of ['mallory', 'crowd'])
  await reportPod(api, namespace, 'silent', { podIP: address, phase: 'Running' });

const account = { namespace: 'etcd-ratchet', name: 'etcd-ratchet' };
const kube = await api.kubeOf(account);
const kubeconfig = await api.kubeconfigOf(account);
const signal = () => ({ signal: AbortSignal.timeout(60_000) });
const many = 64;
const crowd = 1_000;
/** Half of the heap that a tick's container leaves it; and what a process may take that is not bundled. */
const node = ['--max-old-space-size=128', '--max-semi-space-size=1'];
const mostMiB = 256;
/** Seconds. Each of them takes five and more, 32 at a time. */
const usualTimeout = 15;

interface Ticked {
  readonly clusters: readonly { readonly namespace: string; readonly name: string; readonly outcome: string }[];
}

interface Tick {
  readonly code: unknown;
  readonly outcome: (key: string) => string | undefined;
  readonly peakMiB: number;
}

async function tick(timeout = usualTimeout): Promise<Tick> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'etcd-ratchet-silent-'));
  const config = join(directory.path, 'kubeconfig');
  await writeFile(config, kubeconfig);
  const child = resolve(import.meta.dirname, 'tick-child.ts');
  const args = [...node, child, '--kubeconfig', config, '--output=json', `--timeout=${timeout}`];
  const env = { ...process.env, POD_NAME: 'tick', POD_NAMESPACE: 'etcd-ratchet', POD_UID: 'tick' };
  const { promise, resolve: ended } = Promise.withResolvers<{ code: unknown; out: string; err: string }>();
  execFile(process.execPath, args, { env, timeout: 100_000, maxBuffer: 1 << 26 }, (error, out, err) =>
    ended({ code: error ? (error.code ?? error.signal) : 0, out, err }),
  );
  const { code, out, err } = await promise;
  const { clusters } = JSON.parse(out) as Ticked;
  return {
    code,
    outcome: (key) => clusters.find(({ namespace, name }) => `${namespace}/${name}` === key)?.outcome,
    peakMiB: Number(/^peak (\d+) MiB$/m.exec(err)?.[1]),
  };
}

function makeSilent(namespace: string, count: number): Promise<unknown> {
  return inParallel([...Array(count).keys()], 8, (index) =>
    kube.create(resources.clusters, adopting(namespace, `silent-${index}`, 'silent'), signal()),
  );
}

async function unknown(): Promise<number> {
  const { items } = await kube.list<EtcdCluster>(resources.clusters, { namespace: 'mallory', ...signal() });
  return items.filter(({ status }) => status?.lastDecision?.reason !== 'ExistingUnreachable').length;
}

test(`beside ${many} clusters that never answer, one of another namespace gets its step in each tick`, async () => {
  await makeSilent('mallory', many);
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

test(`beside ${crowd} clusters that never answer, so does one in each of three ticks, within its memory`, async (t) => {
  await makeSilent('crowd', crowd);
  const peaks: number[] = [];
  for (const name of ['many-0', 'many-1', 'many-2']) {
    await kube.create(resources.clusters, cluster('payments', name), signal());
    const { code, outcome, peakMiB } = await tick(8);
    assert.equal(outcome(`payments/${name}`), 'acted');
    assert.equal(code, 0);
    peaks.push(peakMiB);
  }
  t.diagnostic(`peaks of ${peaks.join(', ')} MiB`);
  assert.ok(Math.max(...peaks) <= mostMiB, `${peaks.join(', ')} MiB`);
});
