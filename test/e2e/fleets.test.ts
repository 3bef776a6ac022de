import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { startApiProxy } from './support/api-proxy.ts';
import { condition, isReady } from './support/conditions.ts';
import { openScene, scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { tick as runTick } from './support/tick.ts';

const stage = scene();

test('ten clusters from one push', async () => {
  const { push, ticksUntil, namespace, list, forge } = stage();
  const names = Array.from({ length: 10 }, (_, index) => `ten-${index}`);
  const sha = await push(
    Object.fromEntries(names.map((name) => [`clusters/${name}.yaml`, clusterYaml(name, namespace, { replicas: 1 })])),
  );
  await ticksUntil(
    'ten clusters Ready',
    async () => {
      const clusters = await list<EtcdCluster>(resources.clusters);
      return clusters.length === 10 && clusters.every(isReady);
    },
    { within: 180 },
  );
  // Ready is not yet Converged, and the commit is a success when all are.
  await ticksUntil('a success', () => forge.statusesOf(sha).get('etcd-ratchet/fleet')?.state === 'success');
  await push({ 'clusters/rest.yaml': clusterYaml('rest', namespace, { suspend: true }) });
});

test('what is allowed and probably not meant is said with its place, and applied', async () => {
  const { push, tick, namespace, cluster } = stage();
  await push({ 'clusters/even.yaml': clusterYaml('even', namespace, { suspend: true, replicas: 4 }) });
  const { stderr } = await tick();
  assert.match(stderr, /clusters\/even\.yaml:1:1.*4 members survive no more failures than 3/);
  assert.equal((await cluster('even')).spec.replicas, 4);
});

test('two fleets that list one cluster: the first keeps it, the second is told whose it is', async () => {
  const { push, tick, namespace, kubectl, kube, git, forge } = stage();
  await push({ 'clusters/shared.yaml': clusterYaml('shared', namespace, { suspend: true }) });
  await tick();
  const other = await git.createRepository('platform/other');
  await other.commit({ 'clusters/shared.yaml': clusterYaml('shared', namespace, { suspend: true, replicas: 5 }) });
  const fleet = await stage().fleet();
  const second = {
    ...fleet,
    metadata: { name: 'second', namespace },
    spec: { ...fleet.spec, git: { ...fleet.spec.git, url: other.url } },
  };
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: JSON.stringify({ ...second, status: undefined }) });
  await tick();
  assert.equal((await stage().cluster('shared')).spec.replicas, 3);
  const told = await kube.get<EtcdFleet>(resources.fleets, namespace, 'second');
  assert.match(condition(told ?? {}, 'Stalled')?.message ?? '', new RegExp(`belongs to fleet ${namespace}/fleet`));
  assert.equal(
    forge.statuses.some(({ state, context }) => context === 'etcd-ratchet/second' && state === 'failure'),
    true,
  );
  await kubectl(['-n', namespace, 'delete', 'etcdfleet', 'second']);
});

test('a fleet that may not touch a namespace is told the missing right; the rest is applied', async () => {
  const { push, tick, namespace, fleet, cluster } = stage();
  await push({
    'clusters/own.yaml': clusterYaml('own', namespace, { suspend: true }),
    'clusters/foreign.yaml': clusterYaml('foreign', 'default', { suspend: true }),
  });
  await tick();
  assert.equal((await cluster('own')).spec.suspend, true);
  const message = condition(await fleet(), 'Stalled')?.message ?? '';
  assert.match(message, /clusters\/foreign\.yaml:\d+:\d+/);
  assert.match(message, new RegExp(`${namespace}[:/]fleet`), 'it names the service account');
});

test('an older invocation that wakes after a newer commit does not put the old one back', async () => {
  await using own = await openScene().then((opened) => ({ ...opened, [Symbol.asyncDispose]: opened.close }));
  const { push, tick, namespace, cluster, fleet } = own;
  await push({ 'clusters/raced.yaml': clusterYaml('raced', namespace, { suspend: true, replicas: 1 }) });
  await tick();
  await push({ 'clusters/raced.yaml': clusterYaml('raced', namespace, { suspend: true, replicas: 3 }) });

  const { promise: woken, resolve: wake } = Promise.withResolvers<void>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const kubeconfig = process.env.KUBECONFIG ?? '';
  await using proxy = await startApiProxy(kubeconfig, join(tmpdir(), `${namespace}.kubeconfig`), ({ method, path }) => {
    if (method !== 'PATCH' || !path.includes('/etcdclusters/raced')) return { kind: 'pass' };
    reach();
    return { kind: 'hold', until: woken };
  });
  const slow = runTick({ args: ['--namespace', namespace], env: { KUBECONFIG: proxy.kubeconfig } });
  // Whichever comes first: one that ends without getting there would be waited for in vain.
  const early = await Promise.race([reached, slow]);
  assert.equal(early, undefined, `it applies the older commit: ${early?.stderr}\n${proxy.writes.join('\n')}`);
  await push({ 'clusters/raced.yaml': clusterYaml('raced', namespace, { suspend: true, replicas: 5 }) });
  assert.equal((await tick()).code, 0);
  assert.equal((await cluster('raced')).spec.replicas, 5);
  wake();
  await slow;
  assert.equal((await cluster('raced')).spec.replicas, 5);
  await tick();
  assert.equal((await cluster('raced')).spec.replicas, 5);
  assert.match((await fleet()).status?.revision?.applied ?? '', /^main@sha1:[0-9a-f]{40}$/);
});
