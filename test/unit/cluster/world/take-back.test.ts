import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PersistentVolumeClaim } from '../../../../manifests/kube-types.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { assertOneCluster, tickUntilConverged } from '../../../support/world/converge.ts';
import { createWorld, name, namespace, type World } from '../../../support/world/world.ts';

/** Nodes have room for these members only. */
function roomFor(world: World, ...ordinals: readonly number[]): void {
  const pods = new Set(ordinals.map((ordinal) => `${name}-${ordinal}-0`));
  world.room.for = ({ metadata }) => pods.has(metadata.name);
  // The scheduler looks again.
  world.state.changes += 1;
}

const volumes = (world: World) =>
  world.kube
    .stored<PersistentVolumeClaim>(resources.volumeClaims)
    .map(({ metadata }) => metadata.name)
    .toSorted();

/** For where nothing but room, or a person, can change it: why it waits then. */
async function waits(world: World): Promise<string> {
  let reason = '';
  for (let ticks = 0; ticks < 15; ticks += 1) {
    world.settle();
    const result = await world.tick();
    reason = `${result?.decision.kind} ${result?.decision.reason}`;
    assert.deepEqual(world.violations, []);
    world.advance(2);
  }
  return reason;
}

async function bornAs(replicas: number, ...ordinals: readonly number[]): Promise<World> {
  const world = createWorld();
  roomFor(world, ...ordinals);
  await world.apply({ replicas });
  assert.match(await waits(world), /^wait /);
  return world;
}

describe('a birth of 5 with room for 3', () => {
  for (const ordinals of [
    [0, 1, 2],
    [0, 3, 4],
  ]) {
    test(`corrected to 3 is whole with ${ordinals.join(', ')}, which run`, async () => {
      const world = await bornAs(5, ...ordinals);
      assert.equal(world.kube.stored(resources.services).length, 1, 'no client was admitted');
      await world.apply({ replicas: 3 });
      const { reason, trail } = await tickUntilConverged(world);
      assert.equal(reason, 'Converged', trail.join('\n'));
      assertOneCluster(world, 3);
      assert.deepEqual(
        volumes(world),
        ordinals.map((ordinal) => `${name}-${ordinal}`),
      );
      assert.equal(world.kube.stored(resources.services).length, 2, 'clients are let in');
    });
  }

  test('corrected to 4 goes on waiting for one, and is whole when there is room for it', async () => {
    const world = await bornAs(5, 0, 1, 2);
    await world.apply({ replicas: 4 });
    assert.match(await waits(world), /^wait /);
    roomFor(world, 0, 1, 2, 3, 4);
    const end = await tickUntilConverged(world);
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assertOneCluster(world, 4);
    assert.deepEqual(
      volumes(world),
      [0, 1, 2, 3].map((ordinal) => `${name}-${ordinal}`),
    );
  });

  test('corrected to 1 ends with 1, by way of the 3 that run', async () => {
    const world = await bornAs(5, 0, 1, 2);
    await world.apply({ replicas: 1 });
    const { reason, trail } = await tickUntilConverged(world);
    assert.equal(reason, 'Converged', trail.join('\n'));
    assertOneCluster(world, 1);
  });

  test('corrected to 3 and back to 5 has 5 when there is room', async () => {
    const world = await bornAs(5, 0, 1, 2);
    await world.apply({ replicas: 3 });
    await world.tick();
    await world.settle();
    await world.apply({ replicas: 5 });
    roomFor(world, 0, 1, 2, 3, 4, 5, 6);
    const { reason, trail } = await tickUntilConverged(world);
    assert.equal(reason, 'Converged', trail.join('\n'));
    assertOneCluster(world, 5);
  });
});

test('one that gets its room just when it is taken back starts no second cluster', async () => {
  const world = await bornAs(5, 0, 1, 2);
  await world.apply({ replicas: 3 });
  await world.tick();
  roomFor(world, 0, 1, 2, 3, 4);
  const { reason, trail } = await tickUntilConverged(world);
  assert.equal(reason, 'Converged', trail.join('\n'));
  assertOneCluster(world, 3);
});

test('no member is taken back while no quorum of the recorded list runs', async () => {
  const world = await bornAs(5, 0, 1);
  await world.apply({ replicas: 2 });
  assert.match(await waits(world), /^wait WaitingForQuorum/);
  const { message = '' } = world.cluster()?.status?.lastDecision ?? {};
  assert.match(
    message,
    /recorded with 5 members: make room for 3, .* no client was admitted yet, delete EtcdCluster orders/,
  );
  assert.equal(volumes(world).length, 5);
  assert.ok(world.kube.stored(resources.services).every(({ metadata }) => metadata.namespace === namespace));
});
