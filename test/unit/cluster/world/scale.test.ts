import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { bornWith } from '../../../support/world/born.ts';
import { assertOneCluster, tickUntilConverged } from '../../../support/world/converge.ts';
import { sample } from '../../../support/world/crash.ts';
import { lifeOf } from '../../../support/world/life.ts';
import type { World } from '../../../support/world/world.ts';

async function grown(from: number): Promise<World> {
  return bornWith({ replicas: from });
}

async function scaled(from: number, to: number, slow = false) {
  const world = await grown(from);
  await world.apply({ replicas: to });
  const end = await tickUntilConverged(world, { slow, limit: 400 });
  return { world, end };
}

describe('another size in the spec', () => {
  for (const [from, to] of [
    [1, 3],
    [3, 5],
    [1, 5],
    [1, 2],
    [2, 3],
    [5, 3],
    [3, 1],
    [5, 1],
    [2, 1],
  ] as const) {
    for (const slow of [false, true]) {
      test(`${from} becomes ${to}, one member at a time${slow ? ', however slow everything is' : ''}`, async () => {
        const { world, end } = await scaled(from, to, slow);
        assert.equal(end.kind, 'done', end.trail.join('\n'));
        // A volume that its pod has not let go yet holds nobody up.
        world.settle();
        assertOneCluster(world, to, end.trail.join('\n'));
      });
    }
  }

  test('comes to the same by way of every other size', async () => {
    const world = await grown(1);
    for (const replicas of [3, 5, 3, 1]) {
      await world.apply({ replicas });
      const end = await tickUntilConverged(world, { limit: 400 });
      assert.equal(end.kind, 'done', end.trail.join('\n'));
      assertOneCluster(world, replicas);
    }
    assert.deepEqual(
      world.claims().map(({ metadata }) => metadata.name),
      ['orders-0'],
    );
  });

  test('goes in the steps that the documentation names', async () => {
    const { end } = await scaled(2, 3);
    assert.deepEqual(
      end.trail.filter((line) => line.startsWith('act ')),
      ['act PreparingMember acted', 'act SealingMembers acted'],
    );
  });

  test('taken back before the member has joined, what was begun is finished, and then undone', async () => {
    const world = await grown(3);
    await world.apply({ replicas: 4 });
    await world.tick();
    await world.apply({ replicas: 3 });
    const end = await tickUntilConverged(world, { limit: 400 });
    assert.equal(end.kind, 'done', end.trail.join('\n'));
    assertOneCluster(world, 3, end.trail.join('\n'));
  });
});

describe('a volume that is to be kept when its member leaves', () => {
  test('stays, is never used again, and the next member gets another name', async () => {
    const world = await grown(3);
    await world.apply({ replicas: 2, volumeRetention: { whenDeleted: 'Retain', whenScaled: 'Retain' } });
    assert.equal((await tickUntilConverged(world)).kind, 'done');
    assert.deepEqual(names(world), ['orders-0', 'orders-1', 'orders-2']);
    await world.apply({ replicas: 3 });
    const end = await tickUntilConverged(world);
    assert.equal(end.kind, 'done', end.trail.join('\n'));
    assert.deepEqual(names(world), ['orders-0', 'orders-1', 'orders-2', 'orders-3']);
    assert.deepEqual([...world.processes.values()].map(({ pod }) => pod.split('/')[1]).toSorted(), [
      'orders-0-0',
      'orders-1-0',
      'orders-3-0',
    ]);
  });

  test('is left alone when others leave, and so is a copy of it under another name', async () => {
    const world = await grown(3);
    const volumeRetention = { whenDeleted: 'Retain', whenScaled: 'Retain' } as const;
    await world.apply({ replicas: 2, volumeRetention });
    await tickUntilConverged(world);
    const kept = world.claims().find(({ metadata }) => metadata.name === 'orders-2');
    assert.ok(kept);
    // It was copied in the midst of a removal that a person undid then, as its refusal says.
    const member = world.claims().find(({ metadata }) => metadata.name === 'orders-0');
    const memberId = member?.metadata.annotations?.[annotations.memberId];
    assert.ok(memberId);
    const leaving = { [annotations.volumeState]: 'releasing', [annotations.memberId]: memberId };
    const copied = { ...kept.metadata, name: 'orders-2-copy', uid: 'copied' };
    const copy = { ...kept, metadata: { ...copied, annotations: { ...kept.metadata.annotations, ...leaving } } };
    world.kube.seed(resources.volumeClaims, copy);
    const before = versions(world, 'orders-2', 'orders-2-copy');
    await world.apply({ replicas: 1, volumeRetention });
    const end = await tickUntilConverged(world, { limit: 400 });
    assert.equal(end.kind, 'done', end.trail.join('\n'));
    assert.deepEqual(versions(world, 'orders-2', 'orders-2-copy'), before);
  });

  function versions(world: World, ...of: readonly string[]) {
    const claims = world.claims().filter(({ metadata }) => of.includes(metadata.name));
    assert.equal(claims.length, of.length);
    return claims.map(({ metadata }) => metadata.resourceVersion);
  }

  function names(world: World) {
    return world
      .claims()
      .map(({ metadata }) => metadata.name)
      .toSorted();
  }
});

describe('a death at any write, to Kubernetes or to etcd, while', () => {
  for (const [from, to, stride] of [
    [1, 3, 3],
    [3, 5, 5],
    [5, 3, 3],
    [3, 1, 3],
  ] as const) {
    test(`${from} become ${to}: the next invocation finishes it`, async () => {
      const grows = await grown(from);
      await grows.apply({ replicas: to });
      const life = await lifeOf(grows);
      assert.ok(life.writes > 20, `${life.writes} writes`);
      for (const crash of sample(life.places, stride)) {
        const { world } = await life.killedAt(crash);
        const end = await tickUntilConverged(world, { limit: 400 });
        const story = `${crash.when} ${crash.write}:\n${end.trail.join('\n')}`;
        assert.equal(end.kind, 'done', story);
        assertOneCluster(world, to, story);
      }
    });
  }
});

describe('another size and other changes in one commit', () => {
  const changes: readonly (readonly [string, number, Partial<EtcdClusterSpec>])[] = [
    ['another minor', 1, { version: '3.7.3' }],
    ['another patch', 1, { version: '3.6.17' }],
    ['another configuration', 1, { etcd: { snapshotCount: 20_000 } }],
    ['another minor and configuration', 2, { version: '3.7.3', etcd: { snapshotCount: 20_000 } }],
  ];
  const sizes = [
    [5, 3],
    [3, 1],
    [2, 1],
    [3, 5],
  ] as const;
  for (const [what, times, change] of changes) {
    test(`with ${what} each member that stays is started anew, no other, as planned`, async () => {
      for (const [from, to] of sizes) {
        const world = await grown(from);
        const before = new Map(world.starts);
        const plan = await world.plan({ replicas: to, ...change });
        await world.apply({ replicas: to, ...change });
        const end = await tickUntilConverged(world, { limit: 400 });
        const told = `${from} to ${to}:\n${end.trail.join('\n')}`;
        assert.equal(end.kind, 'done', told);
        world.settle();
        assertOneCluster(world, to, told);
        const again = [...world.starts].flatMap(([name, count]) =>
          before.has(name) && count > (before.get(name) ?? 0) ? [`${name} ${count - (before.get(name) ?? 0)}`] : [],
        );
        const staying = Array.from({ length: Math.min(from, to) }, (_, ordinal) => `orders-${ordinal}-0 ${times}`);
        assert.deepEqual(again.toSorted(), staying, told);
        assert.deepEqual(
          plan.planned?.steps.map(({ reason, target }) => `${reason} ${target}`),
          end.steps.map(({ reason, target }) => `${reason} ${target}`),
          told,
        );
      }
    });
  }

  test('the way back is not taken by a member that leaves: a revert is finished first', async () => {
    const world = await grown(3);
    await world.apply({ version: '3.7.3' });
    const isMixed = () => new Set(world.cluster()?.status?.members?.map(({ version }) => version)).size > 1;
    for (let ticks = 0; !isMixed(); ticks += 1) {
      assert.ok(ticks < 60);
      world.settle();
      await world.tick();
    }
    for (const replicas of [2, 1]) await world.apply({ replicas, version: '3.6.16' });
    const end = await tickUntilConverged(world, { limit: 400 });
    assert.equal(end.kind, 'done', end.trail.join('\n'));
    assertOneCluster(world, 1);
    const acts = end.steps.map(({ reason }) => reason);
    assert.ok(acts.indexOf('RollingBackVersion') < acts.indexOf('RemovingMember'), acts.join());
  });
});
