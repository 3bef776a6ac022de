import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { egressFrom } from '../../../functions/environment.ts';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { Job } from '../../../manifests/kube-types.ts';
import { isOwnEndpoint } from '../../../manifests/stores/stores.ts';
import { stepBackups } from '../../../reconcile/backup/pass.ts';
import { openStore } from '../../../reconcile/backup/stores/open-store.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { contextFor, fresh } from './run-jobs.ts';

/** The author of a backup names a store of theirs, and credentials of another team: a token would open what it has. */

const own = {
  gs: [
    'storage.googleapis.com',
    'restricted.googleapis.com',
    'storage-acme.p.googleapis.com',
    'STORAGE.googleapis.com.',
  ],
  s3: [
    's3.amazonaws.com',
    's3.eu-central-1.amazonaws.com',
    's3.dualstack.us-east-1.amazonaws.com',
    's3-fips.us-gov-west-1.amazonaws.com',
    's3.cn-north-1.amazonaws.com.cn',
    'bucket.vpce-0a1b-2c3d.s3.us-east-1.vpce.amazonaws.com',
  ],
  azure: ['acme.blob.core.windows.net', 'acme.blob.core.chinacloudapi.cn', 'acme.z01.blob.storage.azure.net'],
} as const;
const others = {
  gs: ['googleapis.com.evil.example', 'evilgoogleapis.com', '203.0.113.5', 'minio.example.com'],
  s3: [
    // Of anyone with an account there.
    's3-1234567.us-east-1.elb.amazonaws.com',
    's3.123.us-east-1.elb.amazonaws.com',
    'ec2-203-0-113-5.compute-1.amazonaws.com',
    'x.execute-api.eu-central-1.amazonaws.com',
    's3.eu-central-1.amazonaws.com.evil.example',
    'evils3.amazonaws.com',
  ],
  azure: ['acme.blob.core.windows.net.evil.example', 'blob.core.windows.net', 'acme.z1.web.core.windows.net'],
} as const;

for (const scheme of ['gs', 's3', 'azure'] as const)
  test(`${scheme}: a host is the vendor's own where no other account can have it`, () => {
    for (const host of own[scheme]) assert.ok(isOwnEndpoint({ scheme }, `https://${host}`), host);
    for (const host of others[scheme]) assert.ok(!isOwnEndpoint({ scheme }, `https://${host}`), host);
  });

/** Each sends a token: of a key, or of the pod's service account. */
const tokens = {
  'a key of Google': (endpoint: string) => ({
    object: 'gs://bucket/a.db',
    gcs: { endpoint, keySecretName: 'billing' },
  }),
  'workload identity of Google': (endpoint: string) => ({ object: 'gs://bucket/a.db', gcs: { endpoint } }),
  'a role of Amazon': (endpoint: string) => ({ object: 's3://bucket/a.db', s3: { endpoint } }),
};

async function stepped(to: EtcdBackup['spec']['to'], env: Readonly<Record<string, string>> = {}) {
  const kube = createFakeKube();
  kube.seed(resources.backups, fresh({ to: { ...to, serviceAccountName: 'billing-admin' } }));
  await stepBackups(kube.stored<EtcdBackup>(resources.backups), { ...contextFor(kube), egress: egressFrom(env) });
  const ready = kube.stored<EtcdBackup>(resources.backups)[0]?.status?.conditions?.[0];
  return { ready, jobs: kube.stored<Job>(resources.jobs) };
}

for (const [what, to] of Object.entries(tokens)) {
  const vendors = what.includes('Google') ? 'https://storage.googleapis.com' : 'https://s3.eu-central-1.amazonaws.com';

  test(`${what} goes to no host of the author's, and the author is told why`, async () => {
    for (const env of [{}, { RATCHET_LOCAL_HOSTS: 'store.evil.example' }]) {
      const { ready, jobs } = await stepped(to('https://store.evil.example'), env);
      assert.deepEqual([ready?.reason, jobs], ['HostRefused', []]);
      assert.match(ready?.message ?? '', /store\.evil\.example is not the vendor's own.*RATCHET_HOSTS/);
    }
  });

  test(`${what} goes to the vendor's own host, and to one that is listed`, async () => {
    assert.equal((await stepped(to(vendors))).jobs.length, 1);
    const listed = { RATCHET_HOSTS: 'store.example.com' };
    assert.equal((await stepped(to('https://store.example.com'), listed)).jobs.length, 1);
  });
}

test('the agent judges it as well, before a credential is read', async () => {
  const refused = { reason: 'HostRefused', message: /is not the vendor's own/ };
  const endpoint = 'https://store.evil.example';
  const at = { bucket: 'bucket', path: 'a.db' };
  await assert.rejects(openStore({ ...at, scheme: 'gs' }, { gcs: { endpoint, keyFile: '/nowhere' } }), refused);
  await assert.rejects(openStore({ ...at, scheme: 'gs' }, { gcs: { endpoint } }), refused);
  await assert.rejects(openStore({ ...at, scheme: 's3' }, { s3: { endpoint } }), refused);
});

test('a shared access signature is a token, an account key of Azure is none', async () => {
  const credentialsDirectory = await mkdtemp(join(tmpdir(), 'ratchet-sas-'));
  const at = { scheme: 'azure', bucket: 'bucket', path: 'a.db' } as const;
  const azure = { account: 'acme', credentialsDirectory, endpoint: 'https://store.example.com' };
  const listed = egressFrom({ RATCHET_HOSTS: 'store.example.com' });
  await writeFile(join(credentialsDirectory, 'sas-token'), 'sv=2026&sig=very-secret');
  const refused = { reason: 'HostRefused', message: /is not the vendor's own(?!.*very-secret)/ };
  await assert.rejects(openStore(at, { azure }), refused);
  (await openStore(at, { azure }, listed)).close();
  await writeFile(join(credentialsDirectory, 'account-key'), 'c2VjcmV0');
  (await openStore(at, { azure })).close();
  await rm(credentialsDirectory, { recursive: true });
});
