import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SnapshotSource } from '../../../../manifests/api/backup-settings.ts';
import type { Job, PersistentVolumeClaim } from '../../../../manifests/kube-types.ts';
import { forBackupsLabels } from '../../../../manifests/render/offers.ts';
import { wishOf } from '../../../../manifests/render/snapshot-id.ts';
import { livePeer } from '../../../../reconcile/cluster/act/requests/objects.ts';
import { createRestoreJob } from '../../../../reconcile/cluster/act/requests/recovery.ts';
import { runLive } from '../../../../reconcile/cluster/act/requests/run-live.ts';
import { failureOf } from '../../../../reconcile/cluster/know/outcome.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { toldIn } from '../../../../reconcile/reasons/cure.ts';
import { healthy, namespace } from '../observations.ts';
import { kubeOf } from './on-kube.ts';

/** A snapshot that is named on the volume of a member: the Job of a restore would mount that beside etcd. */

const observation = healthy(1);

async function restoreFrom(
  object: string,
  metadata: Partial<PersistentVolumeClaim['metadata']> = {},
  store: Pick<SnapshotSource, 's3' | 'gcs'> = {},
) {
  const snapshot = { object, ...store };
  const cluster = { ...observation.cluster, spec: { ...observation.cluster.spec, bootstrap: { snapshot } } };
  const kube = kubeOf({ ...observation, cluster });
  kube.seed<PersistentVolumeClaim>(resources.volumeClaims, {
    metadata: { name: 'files', namespace, labels: forBackupsLabels, ...metadata },
    spec: { accessModes: ['ReadWriteOnce'], resources: {} },
  });
  function* program() {
    const { readAt: peer } = yield* livePeer('orders-0');
    yield* createRestoreJob({ peer, id: wishOf(snapshot), attempt: 1, token: 'token', bump: 1000 });
  }
  const etcd = { endpoints: new Map<string, string>(), connect: () => Promise.reject(new Error('there is no etcd')) };
  const signal = AbortSignal.timeout(60_000);
  const failure = await runLive(program(), { kube, etcd, cluster, signal }).then(() => undefined, failureOf);
  return { failure, jobs: kube.stored<Job>(resources.jobs).length };
}

for (const [what, object, metadata] of [
  ['of a member of its own cluster', 'pvc://orders-3/a.db', {}],
  ['of a member of another cluster', 'pvc://files/a.db', { annotations: { 'etcd.ratchet.dev/token': 't' } }],
] as const)
  test(`no Job restores from the volume ${what}, and the message says why`, async () => {
    const { failure, jobs } = await restoreFrom(object, metadata);
    assert.deepEqual([failure?.class, failure?.reason, jobs], ['terminal', 'SnapshotOnMember', 0]);
    assert.match(toldIn(failure?.message ?? '').cure, /^copy the file to another PersistentVolumeClaim/);
  });

test('no Job restores from a store at a host that the installation refuses, whatever was decided', async () => {
  const { failure, jobs } = await restoreFrom('s3://bucket/a.db', {}, { s3: { endpoint: 'http://127.0.0.1:9000' } });
  assert.deepEqual([failure?.class, failure?.reason, jobs], ['terminal', 'SnapshotHostRefused', 0]);
  assert.match(toldIn(failure?.message ?? '').cure, /^name a store at another host/);
});

test('no Job restores with what its owner does not offer, whatever was decided', async () => {
  for (const [object, metadata, more] of [
    ['pvc://files/a.db', { labels: {} }, {}],
    ['gs://bucket/a.db', {}, { gcs: { keySecretName: 'billing' } }],
  ] as const) {
    const { failure, jobs } = await restoreFrom(object, metadata, more);
    assert.deepEqual([failure?.class, failure?.reason, jobs], ['terminal', 'SnapshotNotOffered', 0]);
    assert.match(toldIn(failure?.message ?? '').cure, /^have its owner run that command/);
  }
});

test("a Job restores from a volume that is no member's", async () => {
  assert.deepEqual(await restoreFrom('pvc://files/a.db'), { failure: undefined, jobs: 1 });
});
