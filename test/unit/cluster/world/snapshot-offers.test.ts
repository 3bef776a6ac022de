import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import type { Job } from '../../../../manifests/kube-types.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { offerNamed } from '../../../support/fakes/offered.ts';
import { bornWith } from '../../../support/world/born.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';

/** A snapshot that is named with what others own: a plan says of it what the run says, and no Job gets it. */

const places = {
  'a key': { object: 'gs://bucket/a.db', gcs: { keySecretName: 'billing' } },
  'an account': { object: 'gs://bucket/a.db', serviceAccountName: 'billing' },
  'a volume': { object: 'pvc://billing/a.db' },
  'what decrypts it': { object: 'gs://bucket/a.db', encryption: { identitySecretName: 'billing' } },
} as const;

const stalledOf = (world: World) =>
  world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled')?.message ?? '';

for (const [what, snapshot] of Object.entries(places))
  test(`a birth with ${what} of others waits for its owner, in the plan as in the run`, async () => {
    const spec: Partial<EtcdClusterSpec> = { replicas: 1, bootstrap: { snapshot } };
    const world = createWorld();
    const { planned } = await world.plan(spec);
    await world.apply(spec);
    const run = await tickUntilConverged(world);
    assert.deepEqual([run.kind, run.reason], ['refuse', 'SnapshotNotOffered'], run.trail.join('\n'));
    assert.ok(planned?.end?.kind === 'refused', JSON.stringify(planned));
    assert.equal(planned.end.reason, 'SnapshotNotOffered');
    assert.match(stalledOf(world), /kubectl -n \S+ label --overwrite \w+ billing etcd\.ratchet\.dev\/for-backups=true/);
    assert.deepEqual(world.kube.stored<Job>(resources.jobs), []);
    offerNamed(world.kube, namespace, snapshot);
    assert.equal((await tickUntilConverged(world)).kind, 'done');
  });

test('a rollback with a key of others gives nothing up, and the cluster serves on', async () => {
  const world = await bornWith({ replicas: 1 });
  const clusterID = world.cluster()?.status?.clusterID ?? assert.fail('no cluster ID');
  const snapshot = { ...places['a key'], sha256: 'ab'.repeat(32), revision: 7 };
  await world.apply({ replicas: 1, rollback: { clusterID, snapshot } });
  await tickUntilConverged(world);
  const cluster = world.cluster() ?? assert.fail('no cluster');
  const [approval] = cluster.status?.approvals ?? [];
  const given = approval ? { [approval.annotation]: approval.value } : {};
  const metadata = { ...cluster.metadata, annotations: { ...cluster.metadata.annotations, ...given } };
  await world.kube.update(resources.clusters, { ...cluster, metadata });
  const run = await tickUntilConverged(world);
  assert.deepEqual([run.kind, run.reason], ['refuse', 'SnapshotNotOffered'], run.trail.join('\n'));
  assert.deepEqual([world.kube.stored<Job>(resources.jobs).length, world.processes.size], [0, 1]);
});
