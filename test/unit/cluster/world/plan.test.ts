import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import type { PlanEnd, PlannedStep } from '../../../../reconcile/cluster/foresee/plan.ts';
import { askForRotation } from '../../../support/world/applications.ts';
import { certManagerIn } from '../../../support/world/cert-manager.ts';
import { type Converged, type Pace, tickUntilConverged } from '../../../support/world/converge.ts';
import { createWorld, type World } from '../../../support/world/world.ts';

type Changes = Partial<EtcdClusterSpec>;

/** Plans it, does it, and compares step by step what was said with what was done. */
async function foretold(
  world: World,
  changes: Changes | 'delete',
  pace: Pace = {},
): Promise<{ end: PlanEnd; reached: Converged }> {
  const generation = world.cluster()?.metadata.generation;
  const { planned, problem } = await world.plan(changes);
  assert.ok(planned, problem);
  if (changes === 'delete') await world.remove();
  else await world.apply(changes);
  const reached = await tickUntilConverged(world, { limit: 600, ...pace });
  assert.deepEqual(reached.steps.map(line), planned.steps.map(line), reached.trail.join('\n'));
  const cluster = world.cluster();
  if (cluster && cluster.metadata.generation !== generation) {
    const count = planned.steps.length;
    const then = planned.end.kind === 'refused' ? `, then a person is needed (${planned.end.reason})` : '';
    const told = `as planned, ${count} of ${count === 1 ? '1 step' : `${count} steps`}${then}`;
    assert.equal(cluster.status?.plan?.message, count === 0 ? undefined : told);
  }
  return { end: planned.end, reached };
}

function line({ action, target = '', reason, message }: PlannedStep): string {
  return `${action} ${target} ${reason}: ${message}`;
}

async function born(changes: Changes): Promise<World> {
  const world = createWorld();
  await world.apply(changes);
  assert.equal((await tickUntilConverged(world)).kind, 'done');
  return world;
}

/** A snapshot every hundred entries. */
const etcd = { snapshotCount: 100 };
const tls = { mode: 'Managed' } as const;

describe('what a plan says before the first step is what is done', () => {
  for (const mode of ['Disabled', 'Managed'] as const) {
    for (const replicas of [1, 2, 3, 5]) {
      test(`at the birth of ${replicas}, TLS ${mode}`, async () => {
        const { end } = await foretold(createWorld(), { replicas, tls: { mode } });
        assert.equal(end.kind, 'done');
      });
    }
  }

  for (const mode of ['Disabled', 'Managed'] as const) {
    test(`when 1 becomes 3, 5, 3 and 1 again, TLS ${mode}`, async () => {
      const world = await born({ replicas: 1, tls: { mode } });
      for (const replicas of [3, 5, 3, 1]) {
        const { end } = await foretold(world, { replicas, tls: { mode } });
        assert.equal(end.kind, 'done');
      }
    });
  }

  test('when 3.5 goes by 3.6 to 3.7', async () => {
    const world = await born({ version: '3.5.35', etcd });
    for (const version of ['3.6.16', '3.7.3']) {
      const { end, reached } = await foretold(world, { version, etcd });
      assert.equal(end.reason, reached.reason);
    }
  });

  test('when a commit asks for too much: the rest of it is done, and the refusal is foretold', async () => {
    const world = await born({ version: '3.5.35', etcd });
    const { end, reached } = await foretold(world, { version: '3.7.3', etcd, replicas: 4 });
    assert.deepEqual([end.kind, end.reason], ['refused', 'MinorSkipped']);
    assert.deepEqual([reached.kind, reached.reason], ['refuse', 'MinorSkipped']);
  });

  for (const replicas of [1, 2, 3, 5]) {
    test(`when ${replicas} are given another configuration`, async () => {
      const world = await born({ replicas });
      await foretold(world, { replicas, etcd });
      await foretold(world, { replicas });
    });
  }

  test('when version, configuration and size change in one commit', async () => {
    const world = await born({ version: '3.5.35' });
    await foretold(world, { version: '3.6.16', etcd, replicas: 5 });
    await foretold(world, { version: '3.6.17', etcd: { snapshotCount: 200 }, replicas: 3 });
  });

  test('when it hibernates, and wakes', async () => {
    const world = await born({});
    await foretold(world, { replicas: 0 });
    await foretold(world, { replicas: 3 });
    await foretold(world, { replicas: 0 });
    await foretold(world, { replicas: 5, version: '3.6.17', etcd });
  });

  test('when volumes grow, and when they are not to shrink', async () => {
    const world = await born({});
    await foretold(world, { storage: { size: '2Gi' } });
    const { end } = await foretold(world, { storage: { size: '1Gi' } });
    assert.deepEqual([end.kind, end.reason], ['refused', 'VolumeShrinkRefused']);
  });

  test('when new CAs are asked for', async () => {
    const world = await born({ tls });
    await askForRotation(world, 'now');
    await foretold(world, { tls });
  });

  test('when cert-manager signs, at a birth, for one more member, and in another name', async () => {
    const world = createWorld();
    const certManager = certManagerIn(world);
    const pace = { meanwhile: () => certManager.attend() };
    const company = {
      mode: 'CertManager',
      certManager: { issuerRef: { name: 'company' } },
      rotationOverlap: '30s',
    } as const;
    await foretold(world, { tls: company }, pace);
    await foretold(world, { tls: company, replicas: 4 }, pace);
    await foretold(world, { tls: { ...company, dnsNames: ['etcd.example.com'] }, replicas: 4 }, pace);
  });

  test('when it is to be deleted, with its volumes or without', async () => {
    for (const mode of ['Disabled', 'Managed'] as const) {
      const world = await born({ volumeRetention: { whenDeleted: 'Delete' }, tls: { mode } });
      const { end } = await foretold(world, 'delete');
      assert.deepEqual([end.kind, end.reason], ['done', 'Deleted']);
      const kept = await born({ tls: { mode } });
      await foretold(kept, 'delete');
    }
  });

  test('when it is applied again on the volumes that were kept', async () => {
    for (const mode of ['Disabled', 'Managed'] as const) {
      const world = await born({ tls: { mode } });
      await world.remove();
      await tickUntilConverged(world);
      world.settle();
      await foretold(world, { tls: { mode } });
    }
  });

  test('when another mode of TLS is asked for: it is refused, and nothing done', async () => {
    const world = await born({});
    const { end, reached } = await foretold(world, { tls });
    assert.deepEqual([end.kind, end.reason], ['refused', 'TlsModeRefused']);
    assert.deepEqual(reached.steps, []);
  });
});
