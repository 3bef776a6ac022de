import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PersistentVolumeClaim } from '../../../../manifests/kube-types.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { bornWith } from '../../../support/world/born.ts';
import { assertOneCluster, tickUntilConverged } from '../../../support/world/converge.ts';
import { sample } from '../../../support/world/crash.ts';
import { lifeOf } from '../../../support/world/life.ts';
import { createWorld, type World } from '../../../support/world/world.ts';

async function born(replicas = 3): Promise<World> {
  return bornWith({ replicas });
}

async function asleep(replicas = 3): Promise<World> {
  const world = await born(replicas);
  await world.apply({ replicas: 0 });
  await until(world, 'Hibernating');
  return world;
}

/** No member runs, and nobody means to start one. */
async function until(world: World, reason: string): Promise<void> {
  const trail: string[] = [];
  for (let ticks = 0; ticks < 100; ticks += 1) {
    world.settle();
    const result = await world.tick();
    assert.deepEqual(world.violations, []);
    trail.push(`${result?.decision.kind} ${result?.decision.reason} ${result?.outcome}`);
    if (result?.decision.reason === reason && result.outcome === 'none') return;
    world.advance(2);
  }
  assert.fail(trail.join('\n'));
}

describe('no members asked for', () => {
  for (const size of [1, 3, 5]) {
    test(`${size} stop, and are Ready all the same; asked for again, they come back with their data`, async () => {
      const world = await asleep(size);
      assert.equal(world.processes.size, 0);
      assert.equal(world.claims().length, size);
      const conditions = world.cluster()?.status?.conditions ?? [];
      assert.ok(
        conditions.some(
          ({ type, status, reason }) => type === 'Ready' && status === 'True' && reason === 'Hibernating',
        ),
      );
      assert.ok(conditions.some(({ type, status }) => type === 'Available' && status === 'False'));
      await world.apply({ replicas: size });
      const end = await tickUntilConverged(world);
      assert.equal(end.kind, 'done', end.trail.join('\n'));
      assertOneCluster(world, size, end.trail.join('\n'));
    });
  }

  test('another size, configuration and version come after it has woken as it was', async () => {
    const world = await asleep();
    await world.apply({ replicas: 5, etcd: { snapshotCount: 5000 }, version: '3.6.17' });
    const end = await tickUntilConverged(world, { limit: 400 });
    assert.equal(end.kind, 'done', end.trail.join('\n'));
    assertOneCluster(world, 5, end.trail.join('\n'));
    assert.deepEqual(new Set([...world.processes.values()].map(({ version }) => version)), new Set(['3.6.17']));
  });

  test('it sleeps on without its status, and when the resource is deleted and applied again', async () => {
    for (const disturb of [
      async (world: World) => world.dropStatus(),
      async (world: World) => {
        await world.remove();
        world.settle();
        await world.apply({ replicas: 0 });
      },
    ]) {
      const world = await asleep();
      await disturb(world);
      await until(world, 'Hibernating');
      assert.equal(world.processes.size, 0);
      await world.apply({ replicas: 3 });
      const end = await tickUntilConverged(world);
      assert.equal(end.kind, 'done', end.trail.join('\n'));
      assertOneCluster(world, 3, end.trail.join('\n'));
    }
  });

  test('a cluster that lacks a member is healed first: none is removed because none are asked for', async () => {
    const world = createWorld();
    const healing = { podGracePeriod: '20s', memberGracePeriod: '40s' };
    await world.apply({ healing });
    await tickUntilConverged(world);
    world.wipe('orders-1');
    await world.apply({ replicas: 0, healing });
    await until(world, 'Hibernating');
    const state = ({ metadata }: PersistentVolumeClaim) => metadata.annotations?.[annotations.volumeState];
    // Beside them the volume of the member that was replaced, which is kept for a time.
    assert.deepEqual(world.claims().map(state).toSorted(), ['hibernating', 'hibernating', 'hibernating', 'released']);
    await world.apply({ replicas: 3, healing });
    await tickUntilConverged(world);
    world.advance(25 * 3600);
    const end = await tickUntilConverged(world);
    assert.equal(end.kind, 'done', end.trail.join('\n'));
    assertOneCluster(world, 3, end.trail.join('\n'));
  });
});

describe('a death at any write', () => {
  for (const [what, from, to] of [
    ['of falling asleep', 3, 0],
    ['of waking', 0, 3],
  ] as const) {
    for (const [then, replicas] of [
      ['it goes on', to],
      ['it turns back', from],
    ] as const) {
      test(`${what}: ${then}`, async () => {
        const start = await (from === 0 ? asleep() : born());
        await start.apply({ replicas: to });
        const life = await lifeOf(start);
        assert.ok(life.writes > 7, `${life.writes} writes`);
        for (const crash of sample(life.places, 5)) {
          const { world } = await life.killedAt(crash);
          await world.apply({ replicas });
          if (replicas === 0) await until(world, 'Hibernating');
          await world.apply({ replicas: 3 });
          const end = await tickUntilConverged(world);
          const story = `${crash.when} ${crash.write}:\n${end.trail.join('\n')}`;
          assert.equal(end.kind, 'done', story);
          assertOneCluster(world, 3, story);
        }
      });
    }
  }
});
