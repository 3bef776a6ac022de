import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import { partOf } from '../../../run/part.ts';
import { assertOneCluster, tickUntilConverged } from '../../../support/world/converge.ts';
import { type Crash, killer, squares } from '../../../support/world/crash.ts';
import { ending } from '../../../support/world/ending.ts';
import { type Life, lifeOf } from '../../../support/world/life.ts';
import { createWorld, type World } from '../../../support/world/world.ts';

/** Each story is told for every write that a birth makes: its invocation dies just before it, or just after. */
describe('an invocation that dies at any write of a birth', () => {
  let birth: Life;

  before(async () => {
    birth = await lifeOf(await unborn());
    assert.ok(birth.writes > 20, `${birth.writes} writes`);
  });

  test('leaves a cluster that the next ones finish', async () => {
    for (const crash of partOf(birth.places)) {
      const world = await killedAt(birth, crash);
      assert.equal(await ending(world, crash), 'done Converged');
      assertOneCluster(world, 3, text(crash));
    }
  });

  test('leaves a cluster that the next ones finish while everything around them is slow', async () => {
    const slow = await lifeOf(await unborn(), { slow: true });
    for (const crash of partOf(slow.places)) {
      const world = await killedAt(slow, crash);
      const end = await tickUntilConverged(world, { slow: true });
      assert.equal(end.kind, 'done', `${text(crash)}\n${end.trail.join('\n')}`);
      assertOneCluster(world, 3, text(crash));
    }
  });

  for (const [what, spec, endings] of [
    ['the same', {}, ['done Converged']],
    ['five members', { replicas: 5 }, ['done Converged', 'refuse ScalingNotAvailable']],
    ['one member', { replicas: 1 }, ['done Converged', 'refuse ScalingNotAvailable']],
    ['a newer version', { version: '3.7.3' }, ['done Converged']],
    ['an older version', { version: '3.5.35' }, ['done Converged', 'refuse DowngradeRefused']],
    ['a larger volume', { storage: { size: '2Gi' } }, ['done Converged']],
  ] as const satisfies readonly (readonly [string, Partial<EtcdClusterSpec>, readonly string[]])[]) {
    test(`and then the spec asks for ${what}: one cluster, of one size, all sealed`, async () => {
      for (const crash of squares(afterEach(birth), 'black')) {
        const world = await killedAt(birth, crash);
        await world.apply(spec);
        const end = await ending(world, crash);
        assert.ok(
          endings.some((wanted) => wanted === end),
          `${text(crash)}: ${end}`,
        );
        assertOneCluster(world, sizeOf(world), text(crash));
      }
    });

    test(`and then the resource is applied anew with ${what}: one cluster, all sealed`, async () => {
      for (const crash of squares(afterEach(birth), 'white')) {
        const world = await killedAt(birth, crash);
        await world.remove();
        await world.apply(spec);
        const end = await ending(world, crash);
        assert.ok(
          endings.some((wanted) => wanted === end),
          `${text(crash)}: ${end}`,
        );
        assertOneCluster(world, sizeOf(world), text(crash));
      }
    });
  }

  test('and then the status is dropped, as a backup tool does: one cluster', async () => {
    for (const crash of partOf(birth.places)) {
      const world = await killedAt(birth, crash);
      world.dropStatus();
      assert.equal(await ending(world, crash), 'done Converged');
      assertOneCluster(world, 3, text(crash));
    }
  });

  test('and another one at the same place, again and again: one cluster', async () => {
    for (const crash of partOf(birth.places)) {
      const world = await killedAt(birth, crash);
      for (let again = 0; again < 3; again += 1) {
        world.advance(31);
        world.settle();
        await world.tick(killer({ when: crash.when, write: 2 + again }));
      }
      assert.equal(await ending(world, crash), 'done Converged');
      assertOneCluster(world, 3, text(crash));
    }
  });
});

/**
 * Dying before a write leaves what dying after the one before it left, but for calls that are under way side by side.
 */
function afterEach({ places }: Life): readonly Crash[] {
  return places.filter(({ when }) => when === 'after');
}

async function unborn(): Promise<World> {
  const world = createWorld();
  await world.apply();
  return world;
}

async function killedAt(life: Life, crash: Crash): Promise<World> {
  const { world, struck } = await life.killedAt(crash);
  assert.ok(struck, `there is no ${text(crash)}`);
  return world;
}

function sizeOf(world: World): number {
  return world.cluster()?.status?.members?.length ?? 0;
}

function text({ when, write }: Crash): string {
  return `killed ${when} write ${write}`;
}
