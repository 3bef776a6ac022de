import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Kube } from '../../../reconcile/interfaces/kube.ts';
import { clusterYaml, type Scene, setScene } from './scene.ts';

type Write = 'apply' | 'create' | 'updateStatus';

/** A kube of one invocation whose first such write waits, as that of a frozen process does, until it is woken. */
function freezing(scene: Scene, write: Write): { kube: Kube; frozen: Promise<void>; wake: () => void } {
  const frozen = Promise.withResolvers<void>();
  const woken = Promise.withResolvers<void>();
  let first = true;
  const wrap = (kube: Kube): Kube =>
    new Proxy(kube, {
      get(target, property) {
        const value: unknown = Reflect.get(target, property);
        if (property === 'as') return (account: Parameters<Kube['as']>[0]) => wrap(target.as(account));
        if (property !== write || typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          if (first) {
            first = false;
            frozen.resolve();
            await woken.promise;
          }
          return value.apply(target, args);
        };
      },
    });
  return { kube: wrap(scene.kube), frozen: frozen.promise, wake: woken.resolve };
}

const sizes = (scene: Scene) =>
  Object.fromEntries(scene.clusters().map(({ metadata, spec }) => [metadata.name, spec.replicas]));

for (const write of ['updateStatus', 'apply'] as const) {
  test(`an older invocation frozen before ${write} can't put its commit back`, async () => {
    await using scene = await setScene();
    await scene.repository.commit({ 'a.yaml': clusterYaml('orders', { replicas: 1 }) });
    scene.addFleet('production');
    await scene.pass();
    await scene.repository.commit({ 'a.yaml': clusterYaml('orders', { replicas: 5 }) });
    const old = freezing(scene, write);
    const late = scene.pass('production', { kube: old.kube });
    await old.frozen;
    const sha = await scene.repository.commit({ 'a.yaml': clusterYaml('orders', { replicas: 3 }) });
    await scene.pass();
    old.wake();
    await late;
    assert.deepEqual(sizes(scene), { orders: 3 });
    assert.equal(scene.fleet().status?.revision?.applied, `main@sha1:${sha}`);
  });
}

test('nor where the newer commit says what was there before, so that applying it changed nothing', async () => {
  await using scene = await setScene();
  await scene.repository.commit({ 'a.yaml': clusterYaml('orders', { replicas: 1 }) });
  scene.addFleet('production');
  await scene.pass();
  await scene.repository.commit({ 'a.yaml': clusterYaml('orders', { replicas: 5 }) });
  const old = freezing(scene, 'apply');
  const late = scene.pass('production', { kube: old.kube });
  await old.frozen;
  await scene.repository.commit({ 'a.yaml': clusterYaml('orders', { replicas: 1 }) });
  await scene.pass();
  old.wake();
  await late;
  assert.deepEqual(sizes(scene), { orders: 1 });
});

test('nor with a cluster that both create', async () => {
  await using scene = await setScene();
  await scene.repository.commit({ 'a.yaml': clusterYaml('orders', { replicas: 5 }) });
  scene.addFleet('production');
  const old = freezing(scene, 'create');
  const late = scene.pass('production', { kube: old.kube });
  await old.frozen;
  await scene.repository.commit({ 'a.yaml': clusterYaml('orders', { replicas: 3 }) });
  await scene.pass();
  old.wake();
  await late;
  await scene.pass();
  assert.deepEqual(sizes(scene), { orders: 3 });
});

test('of two invocations with different commits, the loser looks again and applies the newer', async () => {
  await using scene = await setScene();
  await scene.repository.commit({ 'a.yaml': clusterYaml('orders', { replicas: 1 }) });
  scene.addFleet('production');
  const old = freezing(scene, 'updateStatus');
  const late = scene.pass('production', { kube: old.kube });
  await old.frozen;
  const sha = await scene.repository.commit({ 'a.yaml': clusterYaml('orders', { replicas: 3 }) });
  await scene.annotateFleet('production', 'note', 'somebody touched the fleet');
  old.wake();
  await late;
  assert.deepEqual(sizes(scene), { orders: 3 });
  assert.equal(scene.fleet().status?.revision?.applied, `main@sha1:${sha}`);
});

test('a status written by a step between listing and applying does not stop the apply', async () => {
  await using scene = await setScene();
  await scene.repository.commit({ 'a.yaml': clusterYaml('orders', { replicas: 1 }) });
  scene.addFleet('production');
  await scene.pass();
  await scene.repository.commit({ 'a.yaml': clusterYaml('orders', { replicas: 3 }) });
  const slow = freezing(scene, 'apply');
  const running = scene.pass('production', { kube: slow.kube });
  await slow.frozen;
  const live = scene.cluster('orders');
  assert.ok(live);
  const { resources } = await import('../../../reconcile/interfaces/kube.ts');
  await scene.fake.updateStatus(resources.clusters, { ...live, status: { observedGeneration: 1, leader: 'orders-0' } });
  slow.wake();
  await running;
  assert.deepEqual(sizes(scene), { orders: 3 });
});
