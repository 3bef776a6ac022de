import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { Job } from '../../../manifests/kube-types.ts';
import { forBackupsLabels, type Named, namedBy } from '../../../manifests/render/offers.ts';
import { stepBackups } from '../../../reconcile/backup/pass.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { fresh } from './run-jobs.ts';
import { serving } from './scene.ts';

/** A backup's author names what others in the namespace own; only what its owner offers gets into a Job. */

const namespace = 'default';
const kinds = {
  Secret: resources.secrets,
  ServiceAccount: resources.serviceAccounts,
  PersistentVolumeClaim: resources.volumeClaims,
} as const;

const bucket = 's3://bucket/{{timestamp}}.db';
const others = {
  'credentials of a store': [{ object: bucket, s3: { credentialsSecretName: 'billing' } }, 'Secret'],
  'a key of Google’s': [{ object: 'gs://bucket/{{timestamp}}.db', gcs: { keySecretName: 'billing' } }, 'Secret'],
  'credentials of Azure': [
    { object: 'azure://bucket/{{timestamp}}.db', azure: { account: 'acme', credentialsSecretName: 'billing' } },
    'Secret',
  ],
  'what encrypts': [{ object: bucket, encryption: { recipientsSecretName: 'billing' } }, 'Secret'],
  'what decrypts': [{ object: bucket, encryption: { identitySecretName: 'billing' } }, 'Secret'],
  authorities: [{ object: bucket, caBundle: { secretName: 'billing' } }, 'Secret'],
  'a service account': [{ object: bucket, serviceAccountName: 'billing' }, 'ServiceAccount'],
  'a volume': [{ object: 'pvc://billing/{{timestamp}}.db' }, 'PersistentVolumeClaim'],
} as const satisfies Record<string, readonly [EtcdBackup['spec']['to'], Named['kind']]>;

async function step(kube: FakeKube) {
  const signal = AbortSignal.timeout(60_000);
  const context = { kube, holder: { pod: '', uid: '' }, clusters: [serving], log: () => undefined, signal };
  await stepBackups(kube.stored<EtcdBackup>(resources.backups), context);
  const { conditions = [] } = kube.stored<EtcdBackup>(resources.backups)[0]?.status ?? {};
  const of = (type: string) => conditions.find((condition) => condition.type === type);
  return { ready: of('Ready'), stalled: of('Stalled'), jobs: kube.stored<Job>(resources.jobs).length };
}

const make = (kube: FakeKube, kind: Named['kind'], labels: Record<string, string> = {}) =>
  kube.seed<KubeObject>(kinds[kind], { metadata: { namespace, name: 'billing', labels } });

for (const [what, [to, kind]] of Object.entries(others))
  describe(`${what} of others`, () => {
    const command = `kubectl -n default label --overwrite ${kind.toLowerCase()} billing etcd.ratchet.dev/for-backups=true`;

    test('is named, and goes into no Job until its owner offers it', async () => {
      const kube = createFakeKube();
      kube.seed(resources.backups, fresh({ to }));
      for (const labels of [undefined, {}, { 'etcd.ratchet.dev/for-backups': 'false' }]) {
        if (labels) make(kube, kind, labels);
        const { ready, stalled, jobs } = await step(kube);
        assert.deepEqual([ready?.reason, stalled?.status, jobs], ['NotOffered', 'True', 0]);
        assert.ok(ready?.message.includes(`${kind} default/billing`), ready?.message);
        assert.ok(ready?.message.endsWith(command), ready?.message);
      }
      make(kube, kind, forBackupsLabels);
      const { ready, jobs } = await step(kube);
      assert.deepEqual([ready?.reason, jobs], ['Taking', 1]);
    });
  });

test('a Secret for fleets is none for backups, nor the other way round', async () => {
  const kube = createFakeKube();
  kube.seed(resources.backups, fresh({ to: others['a key of Google’s'][0] }));
  make(kube, 'Secret', { 'etcd.ratchet.dev/fleet-secret': 'true' });
  assert.deepEqual((await step(kube)).jobs, 0);
});

test('the certificate for an etcd outside is offered as well', async () => {
  const kube = createFakeKube();
  const source = { endpoints: ['https://etcd.example.com:2379'], tlsSecretName: 'billing' };
  const { clusterName: _, ...spec } = fresh({ to: { object: bucket }, source }).spec;
  kube.seed(resources.backups, { ...fresh(), spec });
  assert.deepEqual((await step(kube)).ready?.reason, 'NotOffered');
  make(kube, 'Secret', forBackupsLabels);
  assert.equal((await step(kube)).jobs, 1);
});

test('what a name stands for is asked without its contents', async () => {
  const kube = createFakeKube();
  const asked: (boolean | undefined)[] = [];
  const spied: FakeKube = {
    ...kube,
    get: (resource, at, name, options) => {
      if (resource.kind === 'Secret') asked.push(options?.metadataOnly);
      return kube.get(resource, at, name, options);
    },
  };
  kube.seed(resources.backups, fresh({ to: others['a key of Google’s'][0] }));
  await step(spied);
  assert.deepEqual(asked, [true, true], 'it, and the certificate for backups');
});

test('a bucket without a name of a Secret or an account needs no offer', () => {
  assert.deepEqual(namedBy({ object: bucket, caBundle: { configMapName: 'public' } }), []);
});
