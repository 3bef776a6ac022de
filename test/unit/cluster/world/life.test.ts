import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { bornWith } from '../../../support/world/born.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { sample, tickUntilKilled } from '../../../support/world/crash.ts';
import { tickUntilFrozen } from '../../../support/world/freeze.ts';
import { lifeOf } from '../../../support/world/life.ts';
import { createWorld, type World } from '../../../support/world/world.ts';

/** Everything in it that a story could look at, as plain data. */
function contentOf(world: World): unknown {
  const objects = Object.values(resources).map((resource) => [resource.plural, world.kube.stored(resource)]);
  const { disks, attempts, wrote, processes, formations, violations, starts, connections, deadNodes } = world.state;
  const { skew, watchful, addresses } = world.state;
  return structuredClone({
    ...{ objects, disks, attempts, wrote, processes, formations, violations, starts, connections, deadNodes },
    ...{ skew, watchful, addresses, now: world.now(), logged: world.logged, forbidden: world.forbidden },
    asked: world.kube.journal().map(({ key, name }) => `${key} ${name}`),
  });
}

async function unborn(): Promise<World> {
  const world = createWorld();
  await world.apply();
  return world;
}

describe('a fork of a world', () => {
  test('goes its own way: nothing that happens in it happens in the other', async () => {
    const world = await bornWith({ replicas: 3 });
    const before = contentOf(world);
    const fork = world.fork();
    assert.deepEqual(contentOf(fork), before);
    fork.wipe('orders-1');
    fork.loseNode('orders-2-0');
    fork.forbidden.add('events');
    fork.state.watchful = true;
    fork.state.skew = 1;
    fork.state.violations.push('seen in the fork');
    for (const formation of fork.formations.values()) formation.removed.add('a1');
    fork.advance(60);
    await fork.apply({ replicas: 5 });
    fork.settle();
    await fork.tick();
    assert.deepEqual(contentOf(world), before);
    assert.notDeepEqual(contentOf(fork), before);
  });

  test('lives on as the other does, and what its members write is on their disks', async () => {
    const world = await bornWith({ replicas: 3 });
    const fork = world.fork();
    const trails: string[][] = [];
    for (const each of [fork, world]) {
      await each.apply({ replicas: 5, version: '3.6.17' });
      trails.push([...(await tickUntilConverged(each, { limit: 300 })).trail]);
      for (const { data } of each.processes.values()) assert.ok([...each.disks.values()].includes(data));
    }
    assert.deepEqual(trails[0], trails[1]);
    assert.deepEqual(contentOf(fork), contentOf(world));
  });

  test('by itself has what was set by hand: a node without room, a fault of etcd', async () => {
    const world = await unborn();
    world.room.for = ({ metadata }) => metadata.name !== 'orders-2-0';
    world.dieWhen(({ metadata }) => metadata.name === 'orders-1-0');
    const fork = world.fork();
    world.dieWhen(() => false);
    for (let tick = 0; tick < 5; tick += 1) {
      fork.settle();
      await fork.tick();
      fork.advance(2);
    }
    fork.settle();
    assert.deepEqual(
      [...fork.processes.values()].map(({ pod }) => pod),
      ['shop/orders-0-0'],
    );
  });
});

describe('a life that is left in a fork of it', () => {
  for (const slow of [false, true]) {
    test(`leaves what a life of its own leaves that ends there${slow ? ', also a slow one' : ''}`, async () => {
      const life = await lifeOf(await unborn(), { slow });
      assert.ok(life.writes > 20, `${life.writes} writes`);
      for (const crash of sample(life.places, 3)) {
        const lived = await unborn();
        const struck = await tickUntilKilled(lived, crash, slow);
        const left = await life.killedAt(crash);
        assert.equal(left.struck, struck);
        assert.deepEqual(contentOf(left.world), contentOf(lived), `${crash.when} ${crash.write}`);
      }
    });
  }

  test('stands still where a life of its own does, and wakes alike', async () => {
    const life = await lifeOf(await unborn());
    for (const place of sample(life.places, 7)) {
      const lived = await unborn();
      const frozen = await tickUntilFrozen(lived, place);
      const left = await life.frozenAt(place);
      for (const each of [lived, left.world]) each.advance(31);
      await Promise.all([frozen.wake(), left.frozen?.wake()]);
      assert.deepEqual(contentOf(left.world), contentOf(lived), `${place.when} ${place.write}`);
    }
  });

  test('has no death at a write that was never made', async () => {
    const life = await lifeOf(await unborn());
    const { struck } = await life.killedAt({ when: 'after', write: life.writes });
    assert.equal(struck, false);
    assert.equal((await life.frozenAt({ when: 'before', write: life.writes })).frozen, undefined);
  });
});
