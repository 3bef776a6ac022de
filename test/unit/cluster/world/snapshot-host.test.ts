import assert from 'node:assert/strict';
import { test } from 'node:test';
import { egressFrom } from '../../../../functions/environment.ts';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import type { Job } from '../../../../manifests/kube-types.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { offer } from '../../../support/fakes/offered.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { createWorld, namespace } from '../../../support/world/world.ts';

/** A snapshot in a store at a host that no Job may ask: a plan says of it what the run says. */

const places = {
  's3 on this machine': { object: 's3://bucket/a.db', s3: { endpoint: 'http://localhost:9000' } },
  's3 at the metadata of a cloud': { object: 's3://bucket/a.db', s3: { endpoint: 'http://169.254.169.254' } },
  's3 that would get the pod’s role': { object: 's3://bucket/a.db', s3: { endpoint: 'https://10.0.0.7:9000' } },
  'Google’s at this machine': { object: 'gs://bucket/a.db', gcs: { endpoint: 'https://[::ffff:127.0.0.1]' } },
} as const;

for (const [what, snapshot] of Object.entries(places)) {
  test(`a snapshot in a store like ${what} refuses a birth in the plan as in the run`, async () => {
    const spec: Partial<EtcdClusterSpec> = { replicas: 1, bootstrap: { snapshot } };
    const world = createWorld();
    const { planned } = await world.plan(spec);
    await world.apply(spec);
    const run = await tickUntilConverged(world);
    assert.deepEqual([run.kind, run.reason], ['refuse', 'SnapshotHostRefused'], run.trail.join('\n'));
    const stalled = world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled')?.message ?? '';
    const end = planned?.end;
    assert.ok(end?.kind === 'refused', JSON.stringify(planned));
    assert.equal(end.reason, 'SnapshotHostRefused');
    assert.ok(stalled.includes(end.message) && stalled.includes(end.cure), `${stalled}\n${JSON.stringify(end)}`);
    assert.match(stalled, /RATCHET_(LOCAL_)?HOSTS/);
    assert.deepEqual(world.kube.stored<Job>(resources.jobs), []);
  });
}

test('a snapshot in a bucket that the admin did not list begins no birth', async () => {
  const world = createWorld();
  offer(world.kube, namespace, { kind: 'Secret', name: 'key' });
  const spec: Partial<EtcdClusterSpec> = {
    replicas: 1,
    bootstrap: { snapshot: { object: 's3://theirs/a.db', s3: { credentialsSecretName: 'key' } } },
  };
  await world.apply(spec);
  const egress = egressFrom({ RATCHET_BUCKETS: 's3://backups/{namespace}' });
  for (let tick = 0; tick < 5; tick++) await world.tick({}, { egress });
  const stalled = world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled');
  assert.equal(stalled?.reason, 'SnapshotHostRefused');
  assert.match(stalled.message ?? '', /s3:\/\/theirs\/a\.db is not in RATCHET_BUCKETS/);
  assert.deepEqual(world.kube.stored<Job>(resources.jobs), []);
});

test('a store of one’s own network begins the birth', async () => {
  const endpoint = 'https://10.0.0.7:9000';
  const world = createWorld();
  offer(world.kube, namespace, { kind: 'Secret', name: 'key' });
  await world.apply({
    replicas: 1,
    bootstrap: { snapshot: { object: 's3://bucket/a.db', s3: { endpoint, credentialsSecretName: 'key' } } },
  });
  assert.equal((await tickUntilConverged(world)).kind, 'done');
});
