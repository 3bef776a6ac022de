import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdPeer } from '../../../../manifests/api/etcd-peer.ts';
import type { Pod, StatefulSet } from '../../../../manifests/kube-types.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import {
  changeSet,
  rollout,
  setNamed,
  withFlag,
  withImage,
  withReplicas,
  withTemplateAnnotation,
} from '../../../support/world/hands.ts';
import { assertWhole } from '../../../support/world/whole.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';

/** Image updaters, policy engines, downscalers and people who write into StatefulSets of ours. */

const members = ['orders-0', 'orders-1', 'orders-2'] as const;
const healing = { podGracePeriod: '20s', memberGracePeriod: '40s' };

async function healthyWorld(): Promise<World> {
  const world = createWorld();
  await world.apply({ healing });
  await tickUntilConverged(world);
  return world;
}

const templateOf = (world: World, name: string) => setNamed(world, name).spec;
const imagesOf = (world: World) =>
  world.kube
    .stored<Pod>(resources.pods)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .map(({ spec }) => spec.containers[0]?.image?.split(':')[1]);

async function dryRunsOf(world: World): Promise<number> {
  const before = world.kube.journal().length;
  assert.equal((await world.tick())?.reason, 'Converged');
  return world.kube
    .journal()
    .slice(before)
    .filter(({ dryRun }) => dryRun).length;
}

const uidsOfPods = (world: World) => world.kube.stored<Pod>(resources.pods).map(({ metadata }) => metadata.uid);

const changes: Readonly<Record<string, (spec: StatefulSet['spec']) => StatefulSet['spec']>> = {
  'a higher minor in its image': withImage('quay.io/coreos/etcd:v3.7.3'),
  'a lower minor in its image': withImage('quay.io/coreos/etcd:v3.5.35'),
  'a flag that loses writes': withFlag('--unsafe-no-fsync=true'),
  'another update strategy, unused': (spec) => ({ ...spec, updateStrategy: { type: 'RollingUpdate' } }),
  'another container': (spec) => {
    const { template } = spec;
    const containers = [...template.spec.containers, { name: 'agent', image: 'example.org/agent:1' }];
    return { ...spec, template: { ...template, spec: { ...template.spec, containers } } };
  },
};

for (const [what, change] of Object.entries(changes)) {
  test(`a StatefulSet gets ${what}: it is put back, and no pod ends`, async () => {
    const world = await healthyWorld();
    const before = members.map((name) => templateOf(world, name));
    const pods = uidsOfPods(world);
    for (const name of members) await changeSet(world, name, change);
    const { kind, steps, trail } = await tickUntilConverged(world);
    assert.equal(kind, 'done', trail.join('\n'));
    assert.deepEqual(
      steps.map(({ action, target }) => `${action} ${target}`),
      ['put-back-templates orders-0, orders-1, orders-2'],
    );
    assert.match(steps[0]?.message ?? '', /^kubectl-edit changed spec\.\S+ of StatefulSet orders-0; kubectl-edit/);
    assert.deepEqual(
      members.map((name) => templateOf(world, name)),
      before,
    );
    assert.deepEqual(uidsOfPods(world), pods);
    assertWhole(world, members, trail.join('\n'));
  });
}

test('all StatefulSets are scaled to 0: the outage is told as that, and put back', async () => {
  const world = await healthyWorld();
  for (const name of members) await changeSet(world, name, withReplicas(0), 'kube-downscaler');
  const { kind, steps, trail } = await tickUntilConverged(world);
  assert.equal(kind, 'done', trail.join('\n'));
  assert.equal(steps[0]?.reason, 'PuttingBackTemplates', trail.join('\n'));
  assert.match(
    steps[0]?.message ?? '',
    /^kube-downscaler changed spec\.replicas .*asks for 0 pods: its member is stopped/,
  );
  assert.ok(!steps.some(({ action }) => action === 'restart-member'), trail.join('\n'));
  assertWhole(world, members, trail.join('\n'));
});

test('a pod that came back on the image of another client is restarted on ours', async () => {
  const world = await healthyWorld();
  await changeSet(world, 'orders-1', withImage('quay.io/coreos/etcd:v3.6.17'));
  world.kube.remove(resources.pods, namespace, 'orders-1-0');
  world.settle();
  const { kind, steps, trail } = await tickUntilConverged(world);
  assert.equal(kind, 'done', trail.join('\n'));
  assert.deepEqual(
    steps.map(({ action, target }) => `${action} ${target}`),
    ['put-back-templates orders-1', 'restart-member orders-1'],
  );
  assert.deepEqual(imagesOf(world), ['v3.6.16', 'v3.6.16', 'v3.6.16']);
  assertWhole(world, members, trail.join('\n'));
});

/** Its pod ends, as in a drain, and its StatefulSet makes the next one. */
function recreate(world: World, name: string): void {
  world.kill(`${name}-0`);
  world.kube.remove(resources.pods, namespace, `${name}-0`);
  world.settle();
}

test('a member that another client started on the next minor is taken back while that may be', async () => {
  const world = await healthyWorld();
  await changeSet(world, 'orders-1', withImage('quay.io/coreos/etcd:v3.7.3'));
  recreate(world, 'orders-1');
  const { kind, steps, trail } = await tickUntilConverged(world);
  assert.equal(kind, 'done', trail.join('\n'));
  assert.equal(steps[0]?.action, 'put-back-templates', trail.join('\n'));
  assert.deepEqual(imagesOf(world), ['v3.6.16', 'v3.6.16', 'v3.6.16']);
  assertWhole(world, members, trail.join('\n'));
});

test('a member on the next minor whose claim goes is taken back, and then replaced', async () => {
  const world = await healthyWorld();
  await changeSet(world, 'orders-1', withImage('quay.io/coreos/etcd:v3.7.3'));
  recreate(world, 'orders-1');
  world.kube.remove(resources.volumeClaims, namespace, 'orders-1');
  const { kind, steps, trail } = await tickUntilConverged(world);
  assert.equal(kind, 'done', trail.join('\n'));
  assert.equal(steps[0]?.action, 'put-back-templates', trail.join('\n'));
  assert.deepEqual(imagesOf(world), ['v3.6.16', 'v3.6.16', 'v3.6.16']);
});

test('members that another client gave the next minor keep it once etcd has moved', async () => {
  const world = await healthyWorld();
  for (const name of members) {
    await changeSet(world, name, withImage('quay.io/coreos/etcd:v3.7.3'));
    await changeSet(world, name, withFlag('--unsafe-no-fsync=true'));
  }
  for (const name of members) recreate(world, name);
  for (let rounds = 0; rounds < 20; rounds += 1) world.settle();
  const { kind, reason, trail } = await tickUntilConverged(world, { limit: 200 });
  assert.deepEqual([kind, reason], ['refuse', 'DowngradeRefused'], trail.join('\n'));
  assert.deepEqual(imagesOf(world), ['v3.7.3', 'v3.7.3', 'v3.7.3']);
  for (const name of members)
    assert.ok(!templateOf(world, name).template.spec.containers[0]?.args?.includes('--unsafe-no-fsync=true'));
  assertWhole(world, members, trail.join('\n'));
});

test('kubectl rollout restart is no drift: members restart one at a time', async () => {
  const world = await healthyWorld();
  const restartedAt = withTemplateAnnotation('kubectl.kubernetes.io/restartedAt', '2026-01-02T03:04:05Z');
  for (const name of members) await changeSet(world, name, restartedAt, rollout);
  const { kind, steps, trail } = await tickUntilConverged(world);
  assert.equal(kind, 'done', trail.join('\n'));
  assert.deepEqual(
    steps.map(({ action }) => action),
    ['restart-member', 'restart-member', 'restart-member'],
  );
  assertWhole(world, members, trail.join('\n'));
});

test('a StatefulSet that is changed just before its member restarts: the member stays', async () => {
  const world = await healthyWorld();
  await world.apply({ healing, etcd: { snapshotCount: 5000 } });
  let changed = 0;
  const change = async () => {
    const written = world.kube.journal().findLast(({ key, dryRun }) => key === 'PUT statefulsets' && !dryRun);
    if (!written?.name || changed > 0) return;
    changed += 1;
    await changeSet(world, written.name, withFlag('--unsafe-no-fsync=true'));
  };
  const { kind, trail } = await tickUntilConverged(world, { faults: { after: change } });
  assert.equal(kind, 'done', trail.join('\n'));
  assert.equal(changed, 1);
  assert.match(trail.join('\n'), /orders-\d is not restarted: kubectl-edit changed spec\.\S+\.args of StatefulSet/);
  assertWhole(world, members, trail.join('\n'));
});

test('what another client changes each time is set aside, and put back every ten minutes', async () => {
  const world = await healthyWorld();
  const fight = async () => {
    const { image } = setNamed(world, 'orders-2').spec.template.spec.containers[0] ?? {};
    if (!image?.endsWith('v3.7.3'))
      await changeSet(world, 'orders-2', withImage('quay.io/coreos/etcd:v3.7.3'), 'argocd-image-updater');
  };
  const { kind, reason, message, steps, trail } = await tickUntilConverged(world, { meanwhile: fight });
  assert.deepEqual([kind, reason, steps.length], ['refuse', 'ObjectContested', 3], trail.join('\n'));
  assert.match(message, /^argocd-image-updater changed spec\.template\.spec\.containers\[etcd\]\.image of/);
  assert.deepEqual(imagesOf(world), ['v3.6.16', 'v3.6.16', 'v3.6.16']);
  world.advance(600);
  const again = await world.tick();
  assert.equal(again?.reason, 'PuttingBackTemplates');
  const { kind: end } = await tickUntilConverged(world);
  assert.equal(end, 'done');
  assertWhole(world, members, trail.join('\n'));
});

test('a generation that nothing noted costs one dry run, and is noted', async () => {
  const world = await healthyWorld();
  for (const peer of world.kube.stored<EtcdPeer>(resources.peers)) {
    const { statefulSet: _, ...status } = peer.status ?? {};
    world.kube.seed(resources.peers, { ...peer, status: status as EtcdPeer['status'] });
  }
  assert.equal(await dryRunsOf(world), 3);
  assert.equal(await dryRunsOf(world), 0);
});

test('a field that a newer API server adds when it reads is no drift', async () => {
  const world = await healthyWorld();
  for (const set of world.kube.stored<StatefulSet>(resources.statefulSets)) {
    const template = { ...set.spec.template, spec: { ...set.spec.template.spec, newInNextMinor: 'Default' } };
    world.kube.seed(resources.statefulSets, { ...set, spec: { ...set.spec, template } });
  }
  assert.equal(await dryRunsOf(world), 0);
  assert.equal((await world.tick())?.reason, 'Converged');
});

test('a StatefulSet that another client made anew, of the same generation, is compared', async () => {
  const world = await healthyWorld();
  const { uid: _, resourceVersion: __, generation: ___, ...metadata } = setNamed(world, 'orders-1').metadata;
  const { spec } = setNamed(world, 'orders-1');
  world.kube.remove(resources.statefulSets, namespace, 'orders-1');
  const restored = { metadata, spec: withFlag('--unsafe-no-fsync=true')(spec) } as StatefulSet;
  const { metadata: made } = await world.kube.create<StatefulSet>(resources.statefulSets, restored);
  assert.equal(made.generation, 1);
  const { kind, steps, trail } = await tickUntilConverged(world);
  assert.equal(kind, 'done', trail.join('\n'));
  assert.equal(steps[0]?.action, 'put-back-templates', trail.join('\n'));
  assert.deepEqual(setNamed(world, 'orders-1').spec, spec);
});

test('a dry run that is refused is told, and no member restarts', async () => {
  const world = await healthyWorld();
  await changeSet(world, 'orders-1', withFlag('--unsafe-no-fsync=true'));
  world.forbidden.add('PUT statefulsets');
  const { kind, reason, message, trail } = await tickUntilConverged(world);
  assert.deepEqual([kind, reason], ['refuse', 'TemplateUnread'], trail.join('\n'));
  assert.match(message, /^StatefulSet orders-1 could not be compared with what its peer asks for: .*Forbidden/);
  assertWhole(world, members, trail.join('\n'));
});
