import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { askForRotation, deleteSecret, rememberClient, restingFlaws } from '../../../support/world/applications.ts';
import { bornWith } from '../../../support/world/born.ts';
import { assertOneCluster, tickUntilConverged } from '../../../support/world/converge.ts';
import { sample } from '../../../support/world/crash.ts';
import { lifeOf } from '../../../support/world/life.ts';
import { createWorld, name, namespace, type World } from '../../../support/world/world.ts';

/** What a cluster's certificates may go through, and how often each of its members may have been started in the end. */
interface Story {
  readonly what: string;
  readonly begin: () => Promise<World>;
  readonly starts: number;
  /** One of so many places is tried by default. */
  readonly stride: number;
}

const managed = { tls: { mode: 'Managed', rotationOverlap: '1s' } } as const;

const stories: readonly Story[] = [
  {
    what: 'a birth under TLS',
    begin: async () => {
      const world = createWorld();
      await world.apply(managed);
      return world;
    },
    starts: 1,
    stride: 13,
  },
  {
    what: 'a renewal',
    begin: async () => {
      const world = await converged();
      rememberClient(world, 'who read its Secret before');
      world.advance(61 * 86_400);
      world.state.watchful = true;
      return world;
    },
    starts: 1,
    stride: 7,
  },
  {
    what: 'a rotation of the CAs',
    begin: async () => {
      const world = await converged();
      await askForRotation(world, 'x');
      world.state.watchful = true;
      return world;
    },
    starts: 2,
    stride: 31,
  },
  {
    what: 'the replacement of a lost CA',
    begin: async () => {
      const world = await converged();
      deleteSecret(world, 'orders-peer-ca');
      const found = world.cluster() ?? assert.fail();
      world.kube.seed(resources.clusters, { ...found, status: { ...found.status, conditions: [] } });
      world.state.watchful = true;
      return world;
    },
    starts: 3,
    stride: 47,
  },
];

for (const { what, begin, starts, stride } of stories) {
  describe(`an invocation in the middle of ${what}`, () => {
    test('that dies at any write leaves what the next ones finish; no member is ever cut off', async () => {
      const life = await lifeOf(await begin());
      assert.ok(life.writes > 5, `${life.writes} writes`);
      for (const crash of sample(life.places, stride)) {
        const { world } = await life.killedAt(crash);
        await assertEnds(world, starts, `killed ${crash.when} write ${crash.write}`);
      }
    });

    test('that is frozen at any write, and wakes when others have finished, changes nothing any more', async (t) => {
      const life = await lifeOf(await begin(), { enter: byItsClock(t) });
      for (const freeze of sample(life.places, stride, 3)) {
        const { world, frozen } = await life.frozenAt(freeze);
        const context = `frozen ${freeze.when} write ${freeze.write}`;
        world.advance(31);
        await assertEnds(world, starts, context);
        await frozen?.wake();
        await assertEnds(world, starts, `${context}, awake`);
      }
    });

    test('that is frozen at any write, and wakes in the middle of what others do, spoils nothing', async (t) => {
      const life = await lifeOf(await begin(), { enter: byItsClock(t) });
      for (const freeze of sample(life.places, stride, 7)) {
        const { world, frozen } = await life.frozenAt(freeze);
        world.advance(31);
        for (let step = 0; step <= freeze.write % 4; step += 1) {
          world.settle();
          await world.tick();
          world.advance(2);
        }
        await frozen?.wake();
        await assertEnds(world, starts, `frozen ${freeze.when} write ${freeze.write}`);
      }
    });
  });
}

describe('deletion with policy Delete', () => {
  test('leaves no Secret, wherever an invocation dies', async () => {
    const deleted = await converged({ volumeRetention: { whenDeleted: 'Delete' } });
    await deleted.remove();
    const life = await lifeOf(deleted);
    assert.ok(life.writes > 5, `${life.writes} writes`);
    for (const crash of sample(life.places, 3)) {
      const { world } = await life.killedAt(crash);
      const end = await tickUntilConverged(world);
      assert.equal(end.kind, 'gone', end.trail.join('\n'));
      for (let round = 0; round < 10; round += 1) world.settle();
      assert.deepEqual(world.kube.stored(resources.secrets), [], `${crash.when} ${crash.write}`);
      assert.deepEqual(world.violations, []);
    }
  });
});

describe('two invocations that start together', () => {
  test('rotate as one would', async () => {
    const world = await converged();
    await askForRotation(world, 'x');
    world.state.watchful = true;
    for (let rounds = 0; rounds < 40; rounds += 1) {
      world.settle();
      const results = await Promise.all([world.tick(), world.tick()]);
      assert.ok(results.filter((result) => result?.outcome === 'acted').length <= 1);
      world.advance(2);
    }
    await assertEnds(world, 2, 'side by side');
  });

  test('and pods are deleted meanwhile: it ends all the same', async () => {
    const world = await converged();
    await askForRotation(world, 'x');
    for (let rounds = 0; rounds < 12; rounds += 1) {
      world.kube.remove(resources.pods, namespace, `${name}-${rounds % 3}-0`);
      world.settle();
      await world.tick();
      world.advance(2);
    }
    const end = await tickUntilConverged(world, { limit: 300 });
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.deepEqual(restingFlaws(world), []);
  });
});

async function converged(changes: Partial<EtcdClusterSpec> = {}): Promise<World> {
  return bornWith({ ...managed, ...changes });
}

async function assertEnds(world: World, starts: number, context: string): Promise<void> {
  const end = await tickUntilConverged(world, { limit: 200 }).catch((error: unknown) => {
    throw new Error(context, { cause: error });
  });
  assert.equal(end.reason, 'Converged', `${context}\n${end.trail.join('\n')}`);
  assert.deepEqual(world.violations, [], context);
  assert.deepEqual(restingFlaws(world), [], context);
  assert.ok(Math.max(...world.starts.values()) <= starts, `${context}: ${[...world.starts].join(' ')}`);
  assertOneCluster(world, 3, context);
}

/** Leases run out by this world's clock, and so do fences. */
function byItsClock(t: TestContext): (world: World) => void {
  return (world) => {
    t.mock.restoreAll();
    t.mock.method(performance, 'now', () => world.now());
  };
}
