import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resources } from '../../../../reconcile/kube.ts';
import { assertOneCluster, tickUntilConverged } from '../../../world/converge.ts';
import { createWorld } from '../../../world/world.ts';

describe('a new cluster', () => {
  for (const size of [1, 3, 5]) {
    test(`of ${size} takes 5 steps, whatever its size`, async () => {
      const world = createWorld();
      await world.apply({ replicas: size });
      const { kind, acts, trail } = await tickUntilConverged(world);
      assert.equal(kind, 'done', trail.join('\n'));
      assert.deepEqual(
        trail.filter((line) => line.endsWith(' acted')),
        ['ApplyingServices', 'PreparingMembers', 'StartingMembers', 'SealingMembers', 'ApplyingServices'].map(
          (reason) => `act ${reason} acted`,
        ),
      );
      assert.equal(acts, 5);
      assertOneCluster(world, size);
    });

    test(`of ${size} comes up also when everything around it is slow`, async () => {
      const world = createWorld();
      await world.apply({ replicas: size });
      const { kind, trail } = await tickUntilConverged(world, { slow: true });
      assert.equal(kind, 'done', trail.join('\n'));
      assertOneCluster(world, size);
    });
  }

  test('that is converged is looked at without a single write', async () => {
    const world = createWorld();
    await world.apply();
    await tickUntilConverged(world);
    const before = world.kube.journal().length;
    await world.tick();
    const since = world.kube.journal().slice(before);
    assert.deepEqual(
      since.filter(({ verb }) => verb !== 'LIST').map(({ key }) => key),
      [],
    );
    assert.ok(since.length <= 8, `${since.length} requests`);
  });

  test('says so in its conditions', async () => {
    const world = createWorld();
    await world.apply();
    await tickUntilConverged(world);
    const conditions = world.cluster()?.status?.conditions ?? [];
    assert.deepEqual(
      conditions.map(({ type, status }) => `${type}=${status}`),
      ['Ready=True', 'Available=True', 'CertificatesReady=False'],
    );
    assert.equal(world.kube.stored(resources.peers).length, 3);
  });
});
