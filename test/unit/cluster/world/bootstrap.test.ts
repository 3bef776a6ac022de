import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Service } from '../../../../manifests/kube-types.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { assertOneCluster, tickUntilConverged } from '../../../support/world/converge.ts';
import { createWorld, type World } from '../../../support/world/world.ts';

describe('a new cluster', () => {
  for (const size of [1, 3, 5]) {
    test(`of ${size} takes 2 steps, whatever its size`, async () => {
      const world = createWorld();
      await world.apply({ replicas: size });
      const { kind, acts, trail } = await tickUntilConverged(world);
      assert.equal(kind, 'done', trail.join('\n'));
      assert.deepEqual(
        trail.filter((line) => line.endsWith(' acted')),
        ['PreparingMembers', 'SealingMembers'].map((reason) => `act ${reason} acted`),
      );
      assert.equal(acts, 2);
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
      // By turns one PersistentVolume is read, in one look of some.
      since.filter(({ verb, key }) => verb !== 'LIST' && key !== 'GET persistentvolumes').map(({ key }) => key),
      [],
    );
    assert.ok(since.length <= 9, `${since.length} requests`);
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

describe('the Services', () => {
  const policies = (world: World) =>
    world.kube.stored<Service>(resources.services).map(({ spec }) => spec.ipFamilyPolicy);

  test('are made with an address of each family that there is', async () => {
    const world = createWorld();
    await world.apply();
    await tickUntilConverged(world);
    assert.deepEqual(policies(world), ['PreferDualStack', 'PreferDualStack']);
  });

  test('that were made for one family, or set to one by a person, are left so', async () => {
    const world = createWorld();
    await world.apply();
    await tickUntilConverged(world);
    for (const service of world.kube.stored<Service>(resources.services)) {
      const { spec } = service;
      world.kube.seed<Service>(resources.services, { ...service, spec: { ...spec, ipFamilyPolicy: 'SingleStack' } });
    }
    const { kind, acts, trail } = await tickUntilConverged(world);
    assert.equal(kind, 'done', trail.join('\n'));
    assert.equal(acts, 0, trail.join('\n'));
    assert.deepEqual(policies(world), ['SingleStack', 'SingleStack']);
  });
});
