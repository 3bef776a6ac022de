import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { bornWith } from '../../support/world/born.ts';
import { tickUntilConverged } from '../../support/world/converge.ts';
import { sample } from '../../support/world/crash.ts';
import { lifeOf } from '../../support/world/life.ts';
import type { World } from '../../support/world/world.ts';
import { all, healthy, silent, withEndpoint, without, withRecord } from './observations.ts';

const healing = { podGracePeriod: '20s', memberGracePeriod: '40s' };

/** A member whose disk came back empty was replaced. */
async function replaced(changes: Partial<EtcdClusterSpec> = {}): Promise<World> {
  const world = await bornWith({ replicas: 3, healing, ...changes });
  world.wipe('orders-1');
  const end = await tickUntilConverged(world, { limit: 300 });
  assert.equal(end.kind, 'done', end.trail.join('\n'));
  assert.ok(end.trail.includes('act ReplacingMember acted'), end.trail.join('\n'));
  return world;
}

const volumesOf = (world: World) =>
  world
    .claims()
    .map(({ metadata }) => metadata.name)
    .toSorted();

describe('the volume of a member that was given up', () => {
  test('stays when another one votes in its place, says since when, and goes when its time is over', async () => {
    const world = await replaced();
    assert.deepEqual(volumesOf(world), ['orders-0', 'orders-1', 'orders-2', 'orders-3']);
    const kept = world.claims().find(({ metadata }) => metadata.name === 'orders-1');
    assert.match(kept?.metadata.annotations?.[annotations.replacedAt] ?? '', /^2026-01-02T/);
    world.advance(23 * 3600);
    await tickUntilConverged(world);
    assert.equal(volumesOf(world).length, 4);
    world.advance(2 * 3600);
    const end = await tickUntilConverged(world);
    assert.ok(end.trail.includes('act DeletingReplacedVolume acted'), end.trail.join('\n'));
    assert.deepEqual(volumesOf(world), ['orders-0', 'orders-2', 'orders-3']);
  });

  test('goes in time also where the status was lost', async () => {
    const world = await replaced();
    world.dropStatus();
    world.advance(25 * 3600);
    await tickUntilConverged(world);
    assert.deepEqual(volumesOf(world), ['orders-0', 'orders-2', 'orders-3']);
  });

  test('is kept for ever where the spec says so', async () => {
    const world = await replaced({ volumeRetention: { whenReplaced: { policy: 'Retain', keepFor: '24h' } } });
    world.advance(9000 * 3600);
    await tickUntilConverged(world);
    assert.equal(volumesOf(world).length, 4);
  });

  test('goes once, even if the invocation dies at any write of that', async () => {
    const due = await replaced();
    due.advance(25 * 3600);
    const life = await lifeOf(due);
    assert.ok(life.writes > 3, `${life.writes} writes`);
    for (const crash of sample(life.places, 5)) {
      const { world } = await life.killedAt(crash);
      await tickUntilConverged(world);
      assert.deepEqual(volumesOf(world), ['orders-0', 'orders-2', 'orders-3'], `${crash.when} ${crash.write}`);
    }
  });

  test('stays while its PVC is used by a pod that its node does not end', async () => {
    const world = await bornWith({ replicas: 3, healing });
    world.loseNode('orders-1-0');
    await tickUntilConverged(world, { limit: 300 });
    world.advance(25 * 3600);
    await tickUntilConverged(world);
    assert.ok(world.kube.stored(resources.pods).some(({ metadata }) => metadata.name === 'orders-1-0'));
    assert.ok(volumesOf(world).includes('orders-1'));
  });

  test('of a member that left because the spec became smaller goes at once', async () => {
    const world = await bornWith({ replicas: 3, healing });
    await world.apply({ replicas: 1, healing });
    await tickUntilConverged(world);
    assert.deepEqual(volumesOf(world), ['orders-0']);
  });
});

describe('a volume that was kept when its member was replaced', () => {
  const left = all(without('peer', 'configMap', 'statefulSet', 'pod'), withEndpoint(silent));
  const kept = all(left, withRecord({ state: 'released', replacedAt: '2026-01-01T00:00:00Z' }));
  const fourth = healthy(4).slots[3] ?? assert.fail();

  for (const [what, change, spec, reason] of [
    ['goes when its time is over', kept, {}, 'DeletingReplacedVolume'],
    ['stays while fewer vote than the spec asks for', kept, { replicas: 4 }, 'PreparingMember'],
    ['stays as evidence', all(kept, withRecord({ evidence: true })), {}, 'Converged'],
    ['stays where its member was not replaced', all(left, withRecord({ state: 'released' })), {}, 'Converged'],
    ['stays where somebody else removed its member', all(kept, withRecord({ state: 'superseded' })), {}, 'Converged'],
    ['stays where it is of another etcd cluster', all(kept, withRecord({ clusterId: 'dddd' })), {}, 'Converged'],
  ] as const) {
    test(`${what}: ${reason}`, () => {
      assert.equal(decide(healthy(3, { spec, more: [change(fourth)] })).reason, reason);
    });
  }

  test('stays for the time that the spec says, counted from when another one votes', () => {
    const keepFor = (text: string, history: readonly { readonly at: string }[] = []) =>
      decide(
        healthy(3, {
          spec: { volumeRetention: { whenReplaced: { policy: 'Delete', keepFor: text } } },
          status: {
            observedGeneration: 3,
            history: history.map(({ at }) => ({
              at,
              action: 'x',
              reason: 'PromotingLearner',
              message: '',
              outcome: 'acted',
            })),
          },
          more: [kept(fourth)],
        }),
      ).reason;
    assert.equal(keepFor('27h'), 'DeletingReplacedVolume');
    assert.equal(keepFor('28h'), 'Converged');
    assert.equal(keepFor('27h', [{ at: '2026-01-01T12:00:00Z' }]), 'Converged');
  });
});
