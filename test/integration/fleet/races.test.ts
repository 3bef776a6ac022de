import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Kube, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import { besideForge } from './forge-scene.ts';
import { clusterYaml, type Scene, setScene } from './scene.ts';

type Request = 'apply' | 'create' | 'get' | 'updateStatus';

/**
 * A kube of one invocation whose first such request waits, as that of a frozen process does, until it is woken.
 * @param of absent: for whatever resource
 */
function freezing(
  scene: Scene,
  request: Request,
  of?: Resource,
): { kube: Kube; frozen: Promise<void>; wake: () => void } {
  const frozen = Promise.withResolvers<void>();
  const woken = Promise.withResolvers<void>();
  let first = true;
  const wrap = (kube: Kube): Kube =>
    new Proxy(kube, {
      get(target, property) {
        const value: unknown = Reflect.get(target, property);
        if (property === 'as') return (account: Parameters<Kube['as']>[0]) => wrap(target.as(account));
        if (property !== request || typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          if (first && (of === undefined || args[0] === of)) {
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
  await scene.fake.updateStatus(resources.clusters, { ...live, status: { observedGeneration: 1, leader: 'orders-0' } });
  slow.wake();
  await running;
  assert.deepEqual(sizes(scene), { orders: 3 });
});

test('what an older invocation told the forge last does not stay there', async () => {
  await using scene = await setScene();
  await using beside = await besideForge(scene);
  const { forge, repository } = beside;
  const sha = await repository.commit({ 'a.yaml': clusterYaml('orders') });
  beside.addFleet();
  const shown = () => [...forge.statusesOf(sha).values()].map(({ state }) => state);
  const old = freezing(scene, 'get', resources.secrets);
  const late = scene.pass('production', { kube: old.kube });
  await old.frozen;
  const live = scene.cluster('orders');
  assert.ok(live);
  const ready = { type: 'Ready', status: 'True', reason: 'Converged', message: 'all is well' } as const;
  const lastTransitionTime = '2026-05-01T10:00:00Z';
  const conditions = [{ ...ready, lastTransitionTime, observedGeneration: 1 }];
  await scene.fake.updateStatus(resources.clusters, { ...live, status: { observedGeneration: 1, conditions } });
  await scene.pass();
  assert.deepEqual(shown(), ['success', 'success']);
  old.wake();
  await late;
  assert.deepEqual(shown(), ['pending', 'pending'], 'the older invocation came last');
  await scene.pass();
  assert.deepEqual(shown(), ['success', 'success']);
  const sent = forge.requests.length;
  await scene.pass();
  assert.equal(forge.requests.length, sent, 'what is known again is not sent again');
});
