import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import type { Job, PersistentVolumeClaim } from '../../../../manifests/kube-types.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { forBackupsLabels } from '../../../../manifests/render/offers.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { bornWith } from '../../../support/world/born.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';

/** A snapshot that is named on the volume of a member: a plan says of it what the run says. */

function withVolumeOfAnother(world: World): World {
  const marks = { [annotations.token]: 'theirs', [annotations.volumeState]: 'sealed' };
  world.kube.seed<PersistentVolumeClaim>(resources.volumeClaims, {
    metadata: { name: 'files', namespace, annotations: marks },
    spec: { accessModes: ['ReadWriteOnce'], resources: {} },
  });
  return world;
}

const from = (object: string): Partial<EtcdClusterSpec> => ({ replicas: 1, bootstrap: { snapshot: { object } } });

async function assertForetold(world: World, spec: Partial<EtcdClusterSpec>): Promise<void> {
  const { planned } = await world.plan(spec);
  await world.apply(spec);
  const kept = (await world.plan('keep')).planned;
  const run = await tickUntilConverged(world);
  assert.deepEqual([run.kind, run.reason], ['refuse', 'SnapshotOnMember'], run.trail.join('\n'));
  const stalled = world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled')?.message ?? '';
  for (const plan of [planned, kept]) {
    const end = plan?.end;
    assert.ok(end?.kind === 'refused', JSON.stringify(plan));
    assert.equal(end.reason, 'SnapshotOnMember');
    assert.ok(stalled.includes(end.message) && stalled.includes(end.cure), `${stalled}\n${JSON.stringify(end)}`);
    assert.deepEqual(
      plan?.steps.map(({ action, target }) => `${action} ${target}`),
      run.steps.map(({ action, target }) => `${action} ${target}`),
    );
  }
  assert.deepEqual(world.kube.stored<Job>(resources.jobs), []);
}

describe('a snapshot on the volume of a member', () => {
  for (const [whose, object] of [
    ['its own cluster', 'pvc://orders-0/a.db'],
    ['its own cluster to come', 'pvc://orders-7/a.db'],
    ['another cluster', 'pvc://files/a.db'],
  ] as const)
    test(`of ${whose} refuses a birth in the plan as in the run`, async () => {
      await assertForetold(withVolumeOfAnother(createWorld()), from(object));
    });

  test('of another cluster refuses a rollback in the plan as in the run, and the cluster serves on', async () => {
    const world = withVolumeOfAnother(await bornWith({ replicas: 1 }));
    const clusterID = world.cluster()?.status?.clusterID ?? assert.fail('no cluster ID');
    const rollback = { clusterID, snapshot: { object: 'pvc://files/a.db' } };
    await world.apply({ replicas: 1, rollback });
    await tickUntilConverged(world);
    const cluster = world.cluster() ?? assert.fail('no cluster');
    const said = cluster.status?.conditions?.find(({ type }) => type === 'Stalled')?.message ?? '';
    const text = /roll-back=([^\s;]+)/.exec(said)?.[1] ?? assert.fail(said);
    const metadata = {
      ...cluster.metadata,
      annotations: { ...cluster.metadata.annotations, [annotations.rollBack]: text },
    };
    await world.kube.update(resources.clusters, { ...cluster, metadata });
    await assertForetold(world, { replicas: 1, rollback });
    assert.equal(world.processes.size, 1);
  });

  test('that no member has begins the birth', async () => {
    const world = createWorld();
    world.kube.seed<PersistentVolumeClaim>(resources.volumeClaims, {
      metadata: { name: 'files', namespace, labels: forBackupsLabels },
      spec: { accessModes: ['ReadWriteOnce'], resources: {} },
    });
    await world.apply(from('pvc://files/a.db'));
    assert.equal((await tickUntilConverged(world)).kind, 'done');
  });
});
