import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations } from '../../../../manifests/render/names.ts';
import { type KubeObject, type Resource, resources } from '../../../../reconcile/interfaces/kube.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { killer } from '../../../support/world/crash.ts';
import { assertWhole } from '../../../support/world/whole.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';

const healing = { podGracePeriod: '20s', memberGracePeriod: '40s' };
const all = ['orders-0', 'orders-1', 'orders-2'] as const;

async function healthyWorld(): Promise<World> {
  const world = createWorld();
  await world.apply({ healing });
  await tickUntilConverged(world);
  return world;
}

/** A backup of the PVC that was made at its birth: before its member was sealed, and after it was started. */
function restoreAsBorn(world: World, name: string, disk: 'empty' | 'copy'): void {
  const claim = world.claims().find(({ metadata }) => metadata.name === name) ?? assert.fail(name);
  const data = world.state.disks.get(claim.metadata.uid ?? '') ?? assert.fail(name);
  world.loseVolume(name);
  const {
    [annotations.clusterId]: _,
    [annotations.memberId]: __,
    [annotations.disk]: ___,
    ...rest
  } = claim.metadata.annotations ?? {};
  const said = { ...rest, [annotations.volumeState]: 'bootstrapping', [annotations.mayHaveStarted]: 'peer-of-birth' };
  const uid = `restored-${name}`;
  const metadata = { ...claim.metadata, uid, annotations: said };
  world.kube.seed(resources.volumeClaims, {
    ...claim,
    metadata,
    spec: { ...claim.spec, volumeName: `copy-of-${name}` },
  });
  if (disk === 'copy') world.state.disks.set(uid, data);
}

function startsOf(world: World): ReadonlyMap<string, number> {
  return new Map(world.starts);
}

for (const disk of ['empty', 'copy'] as const) {
  describe(`a PVC that was restored as its birth made it, on a disk that is ${disk === 'copy' ? 'a copy' : 'empty'}`, () => {
    test('is not started on while the others serve: its member is replaced', async () => {
      const world = await healthyWorld();
      const before = startsOf(world).get('orders-1-0');
      restoreAsBorn(world, 'orders-1', disk);
      const end = await tickUntilConverged(world, { limit: 300 });
      assert.equal(end.kind, 'done', end.trail.join('\n'));
      assert.equal(startsOf(world).get('orders-1-0'), before, end.trail.join('\n'));
      assertWhole(world, 3, end.trail.join('\n'));
    });

    test('is not started on when the cluster is applied again', async () => {
      const world = await healthyWorld();
      await world.remove();
      world.settle();
      restoreAsBorn(world, 'orders-1', disk);
      const before = startsOf(world).get('orders-1-0');
      await world.apply({ healing });
      const end = await tickUntilConverged(world, { limit: 300 });
      assert.equal(startsOf(world).get('orders-1-0'), before, end.trail.join('\n'));
    });

    test('with all others: nothing starts while the status remembers that there was a cluster', async () => {
      const world = await healthyWorld();
      const before = startsOf(world);
      for (const name of all) restoreAsBorn(world, name, disk);
      const end = await tickUntilConverged(world, { limit: 300 });
      assert.deepEqual(startsOf(world), before, end.trail.join('\n'));
      assert.equal(end.kind, 'refuse', end.trail.join('\n'));
    });
  });
}

/** As backup tools put them back that drop ownerReferences: under their names, with their labels, under nobody. */
function restoreUnowned(world: World, before: ReturnType<typeof objectsOf>): void {
  for (const { resource, object } of before) {
    const { ownerReferences: _, resourceVersion: __, ...metadata } = object.metadata;
    world.kube.seed(resource, { ...object, metadata: { ...metadata, uid: `restored-${object.metadata.uid}` } });
  }
}

function objectsOf(world: World, name: string): readonly { resource: Resource; object: KubeObject }[] {
  return [resources.configMaps, resources.statefulSets].flatMap((resource) =>
    world.kube.stored(resource).flatMap((object) => (object.metadata.name === name ? [{ resource, object }] : [])),
  );
}

/** The PVC comes back sealed, on an older disk. */
function restoreOlder(world: World, name: string): void {
  const claim = world.claims().find(({ metadata }) => metadata.name === name) ?? assert.fail(name);
  const data = world.state.disks.get(claim.metadata.uid ?? '') ?? assert.fail(name);
  const objects = objectsOf(world, name);
  world.loseVolume(name);
  const uid = `restored-${name}`;
  const spec = { ...claim.spec, volumeName: `copy-of-${name}` };
  world.kube.seed(resources.volumeClaims, { ...claim, metadata: { ...claim.metadata, uid }, spec });
  world.state.disks.set(uid, data);
  for (const { resource, object } of objects) world.kube.remove(resource, object.metadata.namespace, name);
  restoreUnowned(world, objects);
}

describe('a restore that brings ConfigMaps and StatefulSets back without their owners', () => {
  test('of one member: it is replaced, and what they start again is not stopped for ever', async () => {
    const world = await healthyWorld();
    const before = startsOf(world).get('orders-1-0') ?? 0;
    restoreOlder(world, 'orders-1');
    const end = await tickUntilConverged(world, { limit: 300 });
    world.settle();
    assert.equal(end.kind, 'done', end.trail.join('\n'));
    assert.ok(!end.trail.some((line) => line.includes('BarringMembers')), end.trail.join('\n'));
    // etcd refuses who was removed, whatever starts it again.
    assert.equal(startsOf(world).get('orders-1-0'), before + 1);
    const running = [...world.processes.values()].map(({ pod }) => pod.split('/')[1]).toSorted();
    assert.deepEqual(running, ['orders-0-0', 'orders-2-0', 'orders-3-0']);
  });

  test('of all members: a person is asked, and nothing is stopped', async () => {
    const world = await healthyWorld();
    for (const name of all) restoreOlder(world, name);
    const end = await tickUntilConverged(world, { limit: 300 });
    assert.equal(end.reason, 'AnotherDisk', end.trail.join('\n'));
    assert.equal(world.processes.size, 3);
  });
});

test('one whose annotations were garbled is left as it is, and another lost member is replaced', async () => {
  const world = await healthyWorld();
  const claim = world.claims().find(({ metadata }) => metadata.name === 'orders-0') ?? assert.fail();
  const garbled = { ...claim.metadata.annotations, [annotations.token]: '' };
  world.kube.seed(resources.volumeClaims, { ...claim, metadata: { ...claim.metadata, annotations: garbled } });
  world.loseVolume('orders-1');
  const end = await tickUntilConverged(world, { limit: 300 });
  world.settle();
  assert.equal(end.reason, 'VolumeRecordUnreadable', end.trail.join('\n'));
  const running = [...world.processes.values()].map(({ pod }) => pod.split('/')[1]).toSorted();
  assert.deepEqual(running, ['orders-0-0', 'orders-2-0', 'orders-3-0'], end.trail.join('\n'));
  const kept = world.claims().find(({ metadata }) => metadata.name === 'orders-0');
  assert.deepEqual(kept?.metadata.annotations, garbled);
  world.kube.seed(resources.volumeClaims, {
    ...kept,
    metadata: { ...kept?.metadata, name: 'orders-0', annotations: claim.metadata.annotations ?? {} },
  });
  const cured = await tickUntilConverged(world, { limit: 300 });
  assert.equal(cured.kind, 'done', cured.trail.join('\n'));
  assertWhole(world, 3, cured.trail.join('\n'));
});

describe('ConfigMaps that are deleted in a birth which a crash interrupted', () => {
  for (const write of Array.from({ length: 16 }, (_, index) => index)) {
    test(`are made again, and no member is replaced: at write ${write} of the second step`, async () => {
      const world = createWorld();
      await world.apply();
      await world.tick();
      world.settle();
      await world.tick(killer({ write, when: 'before' }));
      world.advance(31);
      const claims = world.claims().map(({ metadata }) => metadata.uid);
      for (const name of ['orders-0', 'orders-1']) world.kube.remove(resources.configMaps, namespace, name);
      const end = await tickUntilConverged(world);
      assert.equal(end.kind, 'done', end.trail.join('\n'));
      assert.deepEqual(
        world.claims().map(({ metadata }) => metadata.uid),
        claims,
        end.trail.join('\n'),
      );
      assertWhole(world, 3, end.trail.join('\n'));
    });
  }
});
