import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { partOf } from '../../../run/part.ts';
import { assertOneCluster } from '../../../support/world/converge.ts';
import { type Crash, squares } from '../../../support/world/crash.ts';
import { ending } from '../../../support/world/ending.ts';
import { type Life, lifeOf } from '../../../support/world/life.ts';
import { createWorld, type World } from '../../../support/world/world.ts';

/** Two invocations: one stands still at a write until its lease has run out, others go on, and then it wakes. */
describe('an invocation that is frozen at any write of a birth, and wakes late', () => {
  test('after others have finished: they had one cluster, and have it still', async (t) => {
    const birth = await birthOf(t);
    for (const freeze of partOf(birth.places)) {
      const { world, frozen } = await frozenAt(birth, freeze);
      world.advance(31);
      assert.equal(await ending(world, freeze), 'done Converged');
      await frozen.wake();
      assert.equal(await ending(world, freeze), 'done Converged');
      assertOneCluster(world, 3, text(freeze));
    }
  });

  for (const [what, meanwhile] of [
    ['the resource was deleted and applied again', recreate],
    ['the resource was deleted and applied again with five members', (world: World) => recreate(world, 5)],
    ['the resource was deleted and applied again with one member', (world: World) => recreate(world, 1)],
    ['the status was dropped', async (world: World) => world.dropStatus()],
    ['the spec was changed to five members', async (world: World) => world.apply({ replicas: 5 })],
  ] as const) {
    test(`after ${what}, and others had finished: one cluster`, async (t) => {
      const birth = await birthOf(t);
      for (const freeze of squares(birth.places, 'black')) {
        const { world, frozen } = await frozenAt(birth, freeze);
        world.advance(31);
        await meanwhile(world);
        await ending(world, freeze);
        await frozen.wake();
        const end = await ending(world, freeze);
        assert.ok(['done Converged', 'refuse ScalingNotAvailable'].includes(end), `${text(freeze)}: ${end}`);
        assertOneCluster(world, world.cluster()?.status?.members?.length ?? 0, text(freeze));
      }
    });

    test(`after ${what}, in the middle of what others do: one cluster`, async (t) => {
      const birth = await birthOf(t);
      for (const freeze of squares(birth.places, 'white')) {
        const { world, frozen } = await frozenAt(birth, freeze);
        world.advance(31);
        await meanwhile(world);
        const steps = 1 + (freeze.write % 3);
        for (let step = 0; step < steps; step += 1) {
          world.settle();
          await world.tick();
          world.advance(2);
        }
        await frozen.wake();
        const end = await ending(world, freeze);
        assert.ok(
          ['done Converged', 'refuse ScalingNotAvailable'].includes(end),
          `${text(freeze)}, ${steps} steps: ${end}`,
        );
        assertOneCluster(world, world.cluster()?.status?.members?.length ?? 0, text(freeze));
      }
    });
  }
});

describe('two invocations that start together', () => {
  test('never both act from one observation', async (t) => {
    const world = await newWorld(t);
    for (let rounds = 0; rounds < 100; rounds += 1) {
      world.settle();
      const results = await Promise.all([world.tick(), world.tick()]);
      const acted = results.filter((result) => result?.outcome === 'acted');
      assert.ok(acted.length <= 1, JSON.stringify(acted.map((result) => result?.decision)));
      world.advance(2);
    }
    assertOneCluster(world, 3);
  });
});

/** Leases run out by this world's clock, and so do fences. */
function byItsClock(t: TestContext, world: World): void {
  t.mock.restoreAll();
  t.mock.method(performance, 'now', () => world.now());
}

async function newWorld(t: TestContext): Promise<World> {
  const world = createWorld();
  byItsClock(t, world);
  await world.apply();
  return world;
}

async function birthOf(t: TestContext): Promise<Life> {
  const birth = await lifeOf(await newWorld(t), { enter: (world) => byItsClock(t, world) });
  assert.ok(birth.writes > 20, `${birth.writes} writes`);
  return birth;
}

async function frozenAt(life: Life, freeze: Crash) {
  const { world, frozen } = await life.frozenAt(freeze);
  return { world, frozen: frozen ?? assert.fail(`there is no ${text(freeze)}`) };
}

async function recreate(world: World, replicas = 3): Promise<void> {
  await world.remove();
  await world.apply({ replicas });
}

function text({ when, write }: Crash): string {
  return `frozen ${when} write ${write}`;
}
