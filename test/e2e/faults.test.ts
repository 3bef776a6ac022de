import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApiProxy } from './support/api-proxy.ts';
import { condition, isReady } from './support/conditions.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { tick as run } from './support/tick.ts';

const stage = scene();

/** A tick that meets a fault still ends in time, with the exit code that it promises. */
const patience = 60_000;

for (const [what, fault, reason] of [
  ['hangs', { kind: 'hang' }, /^(Aborted|Timeout)$/],
  ['sends a login page', { kind: 'html' }, /BadAnswer/],
] as const) {
  test(`a Git server that ${what} becomes a condition; clusters are looked after all the same`, async () => {
    const { push, coldTick, tickUntil, git, fleet, namespace, kubectl } = stage();
    git.breakWith(undefined);
    await push({ 'clusters/steady.yaml': clusterYaml('steady', namespace, { replicas: 1 }) });
    await tickUntil('steady', isReady);
    // A look that finds nothing moved would not see it: a StatefulSet is seen at once.
    await kubectl(['-n', namespace, 'delete', 'statefulset', 'steady-0', '--cascade=orphan']);
    git.breakWith(fault);
    const { code, stderr, milliseconds } = await coldTick();
    git.breakWith(undefined);
    assert.equal(code, 0, stderr);
    assert.ok(milliseconds < patience);
    const source = condition(await fleet(), 'SourceReady');
    assert.equal(source?.status, 'False');
    assert.match(source?.reason ?? '', reason);
    assert.ok(await kubectl(['-n', namespace, 'get', 'statefulset', 'steady-0']), 'it came back without Git');
  });
}

for (const [what, fault] of [
  ['limits our rate', { kind: 'status', status: 429, headers: { 'retry-after': '3600' } }],
  ['hangs', { kind: 'hang' }],
] as const) {
  test(`a forge that ${what} holds nothing up: a condition says so, the status is sent later`, async () => {
    const { pushCluster, tick, coldTick, forge, fleet, cluster, namespace, kubectl } = stage();
    forge.breakWith(fault);
    const name = `forge-${what.replaceAll(' ', '-')}`;
    const sha = await pushCluster(name, { suspend: true });
    const { code, stderr, milliseconds } = await coldTick();
    assert.equal(code, 0, stderr);
    assert.ok(milliseconds < patience, `${milliseconds} ms`);
    assert.ok(await cluster(name), 'the commit was applied');
    assert.equal(condition(await fleet(), 'StatusesReported')?.status, 'False');
    assert.doesNotMatch(stderr + JSON.stringify(await fleet()), /forge-token/, 'the token is nowhere');
    forge.breakWith(undefined);
    // A limit holds until its time, unless a person asks.
    await kubectl([
      '-n',
      namespace,
      'annotate',
      '--overwrite',
      'etcdfleet',
      'fleet',
      `etcd.ratchet.dev/reconcile=${name}`,
    ]);
    await tick();
    assert.ok(forge.statusesOf(sha).has('etcd-ratchet/fleet'));
  });
}

test('an API server that can not be reached is exit code 1, with a sentence', async () => {
  const { code, stderr } = await run({ args: [], env: { KUBECONFIG: await kubeconfigFor('https://127.0.0.1:1') } });
  assert.equal(code, 1);
  assert.match(stderr, /127\.0\.0\.1:1/);
});

test('an API server that accepts and never answers is exit code 1, in time', async () => {
  const silent: Server = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const address = silent.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const { code, stderr, milliseconds } = await run({
    args: ['--timeout', '10'],
    env: { KUBECONFIG: await kubeconfigFor(`https://127.0.0.1:${port}`) },
  });
  silent.close();
  assert.equal(code, 1);
  assert.match(stderr, /"reason":"Timeout"/);
  assert.ok(milliseconds < 15_000, `${milliseconds} ms`);
});

test('an API server that answers nonsense is exit code 1', async () => {
  const file = join(tmpdir(), `${stage().namespace}-nonsense.kubeconfig`);
  await using proxy = await startApiProxy(process.env.KUBECONFIG ?? '', file, () => ({ kind: 'nonsense' }));
  const { code, stderr } = await run({ args: [], env: { KUBECONFIG: proxy.kubeconfig } });
  assert.equal(code, 1, stderr);
  assert.match(stderr, /"reason":"BadAnswer"/);
});

test('wrong usage is exit code 2, and --help says what the codes mean', async () => {
  assert.equal((await run({ args: ['--no-such-option'] })).code, 2);
  assert.equal((await run({ args: ['--cluster', 'without-namespace'] })).code, 2);
  const help = await run({ args: ['--help'] });
  assert.equal(help.code, 0);
  assert.match(help.stdout, /[Ee]xit codes/);
});

async function kubeconfigFor(server: string): Promise<string> {
  const { writeFile } = await import('node:fs/promises');
  const file = join(tmpdir(), `${stage().namespace}-${new URL(server).port}.kubeconfig`);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { token: 'none' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}
