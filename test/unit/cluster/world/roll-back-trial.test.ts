import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations } from '../../../../manifests/render/names.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { bornWith } from '../../../support/world/born.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import type { TrialEnd } from '../../../support/world/state.ts';
import { namespace, type World } from '../../../support/world/world.ts';

/** A rollback whose restored data an etcd does not serve: the cluster that it would give up is as it was. */

const snapshot = { object: 'gs://backups/orders/a.db', sha256: 'ab'.repeat(32), revision: 81_724 };
const other = { ...snapshot, object: 'gs://backups/orders/b.db' };

const idOf = (world: World) => world.cluster()?.status?.clusterID ?? assert.fail('no cluster ID');
const told = (world: World) =>
  world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled')?.message ?? '';

async function annotate(world: World, value: string | undefined): Promise<void> {
  const cluster = world.cluster() ?? assert.fail('no cluster');
  const { [annotations.rollBack]: _, ...rest } = cluster.metadata.annotations ?? {};
  const given = { ...rest, ...(value !== undefined && { [annotations.rollBack]: value }) };
  await world.kube.update(resources.clusters, { ...cluster, metadata: { ...cluster.metadata, annotations: given } });
}

const asked = (world: World) => world.cluster()?.status?.approvals?.[0]?.value ?? assert.fail(told(world));

/** Approved, with these for ends of its trials, the last one for all later ones. */
async function approved(...ends: readonly TrialEnd[]): Promise<{ readonly world: World; readonly clusterID: string }> {
  const world = await bornWith({ replicas: 3 });
  const clusterID = idOf(world);
  await world.apply({ replicas: 3, rollback: { clusterID, snapshot } });
  await tickUntilConverged(world);
  const left = [...ends];
  world.tryOut(() => (left.length > 1 ? left.shift() : left[0]) ?? 'serves');
  await annotate(world, asked(world));
  return { world, clusterID };
}

function assertAsItWas(world: World, clusterID: string): void {
  assert.deepEqual(world.violations, []);
  assert.deepEqual(
    [...world.processes.values()].map(({ data }) => data.clusterId),
    Array(3).fill(clusterID),
  );
  const states = world.claims().map(({ metadata }) => metadata.annotations?.[annotations.volumeState]);
  assert.deepEqual(
    states.filter((state) => state !== 'restoring'),
    Array(3).fill('sealed'),
  );
}

async function assertGoneOn(world: World, clusterID: string): Promise<void> {
  const reached = await tickUntilConverged(world, { limit: 400 });
  assert.equal(reached.kind, 'done', reached.trail.join('\n'));
  assert.deepEqual(world.violations, []);
  assert.notEqual(idOf(world), clusterID);
}

describe('a trial of what a rollback restored', () => {
  test('fails: its last words are told, the cluster is as it was, and it can be called off', async () => {
    const { world, clusterID } = await approved('exits');
    const reached = await tickUntilConverged(world);
    assert.deepEqual([reached.kind, reached.reason], ['refuse', 'RollbackTrialFailed'], reached.trail.join('\n'));
    assert.match(told(world), /exits with 2, and last logged: invalid database; the present cluster is as it was/);
    assertAsItWas(world, clusterID);
    await annotate(world, undefined);
    const off = await tickUntilConverged(world);
    assert.equal(off.reason, 'RollbackNotApproved', off.trail.join('\n'));
    assertAsItWas(world, clusterID);
    assert.equal(world.claims().length, 3);
  });

  test('fails: another snapshot is approved, and takes its place', async () => {
    const { world, clusterID } = await approved('exits');
    await tickUntilConverged(world);
    await world.apply({ replicas: 3, rollback: { clusterID, snapshot: other } });
    await tickUntilConverged(world);
    assertAsItWas(world, clusterID);
    await annotate(world, asked(world));
    world.tryOut(() => 'serves');
    await assertGoneOn(world, clusterID);
  });

  test('dies with its node: it is tried again, and passes', async () => {
    const { world, clusterID } = await approved('dies', 'dies', 'serves');
    await assertGoneOn(world, clusterID);
    const [claim] = world.claims().filter(({ metadata }) => metadata.annotations?.[annotations.trial] !== undefined);
    assert.equal(claim?.metadata.annotations?.[annotations.trial], 'passed');
  });

  test('has no room: the approval that goes without is asked for, and is enough', async () => {
    const { world, clusterID } = await approved('has no room');
    const reached = await tickUntilConverged(world);
    assert.deepEqual([reached.kind, reached.reason], ['refuse', 'RollbackTrialNoRoom'], reached.trail.join('\n'));
    assertAsItWas(world, clusterID);
    const value = asked(world);
    assert.match(value, /\/untried$/);
    await annotate(world, value);
    await assertGoneOn(world, clusterID);
    const [claim] = world.claims().filter(({ metadata }) => metadata.annotations?.[annotations.trial] !== undefined);
    assert.equal(claim?.metadata.annotations?.[annotations.trial], 'waived');
  });
});

describe('a member that keeps exiting after the hand-over', () => {
  /** What its message says to do, word for word. */
  async function wentBack(rollback: object): Promise<{ readonly world: World; readonly clusterID: string }> {
    const { world, clusterID } = await approved('serves');
    world.dieWhen(({ metadata }) => metadata.name === 'orders-3-0');
    const reached = await tickUntilConverged(world, { limit: 400 });
    assert.deepEqual([reached.kind, reached.reason], ['refuse', 'MemberKeepsExiting'], reached.trail.join('\n'));
    const cure = told(world);
    assert.match(cure, /remove annotation etcd\.ratchet\.dev\/roll-back, or name another snapshot in spec\.rollback/);
    assert.match(
      cure,
      /let only orders-3 go: kubectl -n shop delete statefulset orders-3; kubectl -n shop delete pvc orders-3;/,
    );
    assert.match(cure, new RegExp(`the former volumes hold of etcd cluster ${clusterID}, `));
    await annotate(world, undefined);
    await world.apply({ replicas: 3, ...rollback });
    world.kube.remove(resources.statefulSets, namespace, 'orders-3');
    world.loseVolume('orders-3');
    world.dieWhen(() => false);
    const then = await tickUntilConverged(world, { limit: 400 });
    assert.deepEqual([then.kind, then.reason], ['refuse', 'AllVolumesGone'], then.trail.join('\n'));
    return { world, clusterID };
  }

  test('names the way back to what was given up, which leads to the data of that moment', async () => {
    const { world, clusterID } = await wentBack({});
    const [, names = ''] = /volume-state of ((?:orders-\d(?:, )?)+) to sealed/.exec(told(world)) ?? [];
    assert.equal(names, 'orders-0, orders-1, orders-2');
    for (const claim of world.claims()) {
      const given = { ...claim.metadata.annotations, [annotations.volumeState]: 'sealed' };
      await world.kube.update(resources.volumeClaims, {
        ...claim,
        metadata: { ...claim.metadata, annotations: given },
      });
    }
    const reached = await tickUntilConverged(world, { limit: 400 });
    assert.equal(reached.kind, 'done', reached.trail.join('\n'));
    assertAsItWas(world, clusterID);
  });

  test('names the way to another snapshot, which takes its place once that is approved', async () => {
    const clusterID = idOf(await bornWith({ replicas: 3 }));
    const { world } = await wentBack({ rollback: { clusterID, snapshot: other } });
    await annotate(world, asked(world));
    await assertGoneOn(world, clusterID);
  });
});
