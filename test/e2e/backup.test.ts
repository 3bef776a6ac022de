/** EtcdBackups on the local cluster: real Jobs, real stores, a writer beside them, and what goes wrong. */

import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { Job, PersistentVolume, PersistentVolumeClaim } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { type Emulator, s3Secret, startFakeGcs, startVersity } from '../integration/backup/emulators.ts';
import { temporary } from '../integration/backup/members.ts';
import { authority, leaf } from '../integration/clients/etcd-tls-members.ts';
import { localSettings } from '../support/network.ts';
import { backupStore } from './support/backup-store.ts';
import { backupUntil, createBackup, keysIn, messageOf, reasonOf, startGate } from './support/backups.ts';
import { connectTo } from './support/client.ts';
import { isReady } from './support/conditions.ts';
import { writeKey } from './support/keys.ts';
import { node } from './support/node.ts';
import { type Scene, scene } from './support/scene.ts';
import { until } from './support/until.ts';
import { startWriter } from './support/writer.ts';

/** Where pods reach this machine. */
const host = '10.244.0.1';
let gcs: Emulator;
let s3: Emulator;
const stage = scene({ furnish });

async function furnish({ kubectl, namespace, pushCluster, tickUntil }: Scene): Promise<void> {
  [gcs, s3] = await Promise.all([startFakeGcs(undefined, host), startVersity(host)]);
  const furniture = [
    secret('s3-key', { 'access-key-id': 'access', 'secret-access-key': s3Secret }),
    secret('wrong-key', { 'access-key-id': 'access', 'secret-access-key': 'not-the-secret' }),
    backupStore(namespace),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'etcd-ratchet-settings', namespace },
      data: localSettings,
    },
  ];
  await kubectl(['create', '-f', '-'], { stdin: furniture.map((one) => JSON.stringify(one)).join('\n---\n') });
  await pushCluster('orders');
  await tickUntil('orders', isReady, 120);

  function secret(name: string, stringData: Readonly<Record<string, string>>) {
    return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData };
  }
}

after(async () => {
  await gcs?.[Symbol.asyncDispose]();
  await s3?.[Symbol.asyncDispose]();
});

const inPath = '{{namespace}}/{{cluster}}/{{timestamp}}.db';
const s3At = (endpoint: string) => ({ credentialsSecretName: 's3-key', endpoint, region: 'eu-test-1' });

/** The directory of the PersistentVolumeClaim on this machine. */
async function claimDirectory(): Promise<string> {
  const claim = await stage().get<PersistentVolumeClaim>(resources.volumeClaims, 'backups');
  const name = claim?.spec.volumeName ?? '';
  const volume = await stage().kube.get<PersistentVolume>(resources.persistentVolumes, undefined, name);
  return (volume?.spec as { local?: { path?: string } } | undefined)?.local?.path ?? assert.fail('no local volume');
}

test('under a writer, backups to a volume, GCS and S3 are restored and hold what was written', async (t) => {
  const { access, kubectl, namespace } = stage();
  const way = await access('orders');
  const writer = startWriter(way, 'load');
  const known = Array.from({ length: 50 }, (_, index) => `before/${index}`);
  for (const key of known) await writeKey(way, key, `value of ${key}`);

  await createBackup(stage(), 'to-volume', { to: { object: `pvc://backups/${inPath}` } });
  await createBackup(stage(), 'to-gcs', {
    to: {
      object: `gs://backups/${inPath}`,
      compression: 'Zstd',
      gcs: { endpoint: gcs.url, authentication: 'Anonymous' },
    },
  });
  await createBackup(stage(), 'to-s3', { to: { object: `s3://backups/${inPath}`, s3: s3At(s3.url) } });
  const done: EtcdBackup[] = [];
  for (const name of ['to-volume', 'to-gcs', 'to-s3'])
    done.push(await backupUntil(stage(), name, (one) => one.status?.finishedAt !== undefined));
  t.diagnostic(await kubectl(['get', 'etcdbackups.etcd.ratchet.dev', '-n', namespace, '-o', 'wide']));
  t.diagnostic(await kubectl(['describe', 'etcdbackups.etcd.ratchet.dev', '-n', namespace, 'to-volume']));
  for (const backup of done) {
    assert.equal(reasonOf(backup), 'Verified', messageOf(backup));
    assert.deepEqual(backup.status?.verified?.hashKV, backup.status?.hashKV);
  }
  // While the writer still has its connection: what is live at that very revision.
  const live = connectTo(way, 10_000);
  const stores = [{ directory: await claimDirectory() }, { gcs: { endpoint: gcs.url, anonymous: true } }];
  for (const [index, store] of stores.entries()) {
    const { object = '', revision = 0 } = done[index]?.status ?? {};
    const restored = await keysIn(object, store, '3.6.16', revision);
    assert.deepEqual(restored, await live.getAll().revision(revision).strings());
    for (const key of known) assert.equal(restored[key], `value of ${key}`);
    assert.ok(
      Object.keys(restored).some((key) => key.startsWith('load/')),
      'the writer wrote beside it',
    );
  }
  live.close();
  const { lost, longestGap } = await writer.finish();
  assert.deepEqual(lost, []);
  t.diagnostic(`longest gap ${longestGap} ms`);

  const { object = '' } = done[0]?.status ?? {};
  const directory = await claimDirectory();
  const path = object.slice('pvc://backups/'.length);
  assert.partialDeepStrictEqual(JSON.parse(await readFile(join(directory, `${path}.verified.json`), 'utf8')), {
    object,
  });
  const told = JSON.stringify(done) + JSON.stringify(await stage().list<Job>(resources.jobs));
  assert.ok(!told.includes(s3Secret), 'no Secret is in a status or a Job');
});

test('an etcd that is named by its addresses is backed up, and proven, as any other', async () => {
  const { kubectl, namespace, cluster } = stage();
  const endpoints = [`https://orders-0-0.orders-peers.${namespace}.svc:2379`];
  const spec = {
    source: { endpoints, tlsSecretName: 'orders-client-tls' },
    to: { object: 'pvc://backups/elsewhere/{{timestamp}}.db', compression: 'Gzip' },
  };
  const metadata = { name: 'by-address', namespace };
  const backup = { apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdBackup', metadata, spec };
  await kubectl(['create', '-f', '-'], { stdin: JSON.stringify(backup) });
  const made = await backupUntil(stage(), 'by-address', (one) => one.status?.finishedAt !== undefined);
  assert.equal(reasonOf(made), 'Verified', messageOf(made));
  assert.equal(made.status?.clusterID, (await cluster('orders')).status?.clusterID);
});

test('a bucket that refuses the key is named, with what to do, and nothing is tried again', async () => {
  await createBackup(stage(), 'forbidden', {
    to: { object: `s3://backups/${inPath}`, s3: { ...s3At(s3.url), credentialsSecretName: 'wrong-key' } },
  });
  const backup = await backupUntil(stage(), 'forbidden', (one) => one.status?.finishedAt !== undefined);
  assert.equal(reasonOf(backup), 'Forbidden', messageOf(backup));
  assert.match(messageOf(backup), /To go on: correct that, then create another EtcdBackup/);
  assert.equal(backup.status?.attempt?.number, 1);
});

test('a store with a private authority takes a backup by its bundle, and is refused without', async () => {
  const { kubectl, namespace } = stage();
  await using place = await temporary();
  const own = await authority('store');
  const { certificate, key } = await leaf(own, { ipAddresses: [host], usages: ['serverAuth'] });
  const files = { cert: join(place.path, 'tls.crt'), key: join(place.path, 'tls.key') };
  await Promise.all([writeFile(files.cert, certificate), writeFile(files.key, key)]);
  await using secure = await startVersity(host, files);
  const data = { 'store.crt': own.certificate };
  const bundle = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'store-ca', namespace }, data };
  await kubectl(['create', '-f', '-'], { stdin: JSON.stringify(bundle) });
  const to = { object: `s3://backups/${inPath}`, s3: s3At(secure.url) };
  await createBackup(stage(), 'vouched', { to: { ...to, caBundle: { configMapName: 'store-ca', key: 'store.crt' } } });
  await createBackup(stage(), 'unvouched', { to });
  const vouched = await backupUntil(stage(), 'vouched', (one) => one.status?.finishedAt !== undefined);
  assert.equal(reasonOf(vouched), 'Verified', messageOf(vouched));
  const refused = await backupUntil(stage(), 'unvouched', (one) => one.status?.finishedAt !== undefined);
  assert.equal(reasonOf(refused), 'NotTrusted', messageOf(refused));
  assert.match(messageOf(refused), /caBundle/);
});

test('a Secret that is not there is named, and the same attempt goes on once it is', async () => {
  const { kubectl, namespace } = stage();
  const key = { ...s3At(s3.url), credentialsSecretName: 'late-key' };
  await createBackup(stage(), 'late', { to: { object: `s3://backups/${inPath}`, s3: key }, verify: 'Trailer' });
  await backupUntil(stage(), 'late', (one) => /FailedMount: .*late-key/.test(messageOf(one)));
  await kubectl([
    ...['create', 'secret', 'generic', 'late-key', '-n', namespace],
    ...['--from-literal=access-key-id=access', `--from-literal=secret-access-key=${s3Secret}`],
  ]);
  const backup = await backupUntil(stage(), 'late', (one) => one.status?.finishedAt !== undefined);
  assert.equal(reasonOf(backup), 'Taken', messageOf(backup));
  assert.equal(backup.status?.attempt?.number, 1);
});

test('the volume of a drill is gone once the backup is settled, long before its Job would end', async () => {
  const { list } = stage();
  const scratch = { storageClassName: 'standard' };
  await createBackup(stage(), 'drilled', { to: { object: `pvc://backups/${inPath}` }, scratch });
  const volumes = async () =>
    (await list<PersistentVolumeClaim>(resources.volumeClaims)).filter(({ metadata }) =>
      metadata.name.startsWith('drilled-verify-'),
    );
  let seen = 0;
  const backup = await backupUntil(
    stage(),
    'drilled',
    (one) => one.status?.settled === true,
    90,
    async () => {
      seen = Math.max(seen, (await volumes()).length);
    },
  );
  assert.equal(reasonOf(backup), 'Verified', messageOf(backup));
  assert.equal(seen, 1, 'it was restored to a volume of its own');
  await until('the volume is gone', async () => (await volumes()).length === 0);
  assert.equal(await stage().get<Job>(resources.jobs, 'drilled-verify-1'), undefined);
  assert.ok(await stage().get<Job>(resources.jobs, 'drilled-take-1'));
});

test('a second backup of one name replaces nothing', async () => {
  const to = { object: 'pvc://backups/fixed.db' };
  await createBackup(stage(), 'first', { to, verify: 'Trailer' });
  const first = await backupUntil(stage(), 'first', (one) => one.status?.finishedAt !== undefined);
  assert.equal(reasonOf(first), 'Taken', messageOf(first));
  const file = join(await claimDirectory(), 'fixed.db');
  const bytes = await readFile(file);
  await createBackup(stage(), 'second', { to, verify: 'Trailer' });
  const second = await backupUntil(stage(), 'second', (one) => one.status?.finishedAt !== undefined);
  assert.equal(reasonOf(second), 'Exists', messageOf(second));
  assert.ok((await readFile(file)).equals(bytes));
});

test('an agent that is killed in the middle is told apart, and another attempt makes it good', async () => {
  await using gate = await startGate(host, s3.url);
  await createBackup(stage(), 'killed', { to: { object: `s3://backups/${inPath}`, s3: s3At(gate.url) } });
  await stage().ticksUntil('the agent asks the store', () => gate.waiting > 0);
  const { namespace, kubectl } = stage();
  const pod = await kubectl(['get', 'pods', '-n', namespace, '-l', 'etcd.ratchet.dev/backup=killed', '-o', 'name']);
  await node().killContainer(namespace, pod.trim().slice('pod/'.length));
  gate.open();
  const failed = await backupUntil(stage(), 'killed', (one) => one.status?.lastFailure !== undefined);
  assert.equal(failed.status?.lastFailure?.reason, 'AgentBroke', JSON.stringify(failed.status));
  assert.equal(reasonOf(failed), 'Retrying');
  const backup = await backupUntil(stage(), 'killed', (one) => one.status?.finishedAt !== undefined);
  assert.equal(reasonOf(backup), 'Verified', messageOf(backup));
  assert.notEqual(backup.status?.object, failed.status?.attempt?.object, 'each attempt has a name of its own');
});

test('a bit that flips in the store is found before the backup is called good', async () => {
  await createBackup(stage(), 'flipped', { to: { object: 'pvc://backups/flipped/{{timestamp}}.db' } });
  const take = () => stage().get<Job>(resources.jobs, 'flipped-take-1');
  // Nothing looks again before the object has changed.
  await until('its Job is made', async () => {
    await stage().tick();
    return await take();
  });
  await until('the object is there', async () =>
    (await take())?.status?.conditions?.some(({ type, status }) => type === 'Complete' && status === 'True'),
  );
  const directory = join(await claimDirectory(), 'flipped');
  const name = (await readdir(directory)).find((one) => one.endsWith('.db')) ?? assert.fail('there is no object');
  const bytes = await readFile(join(directory, name));
  bytes[4096] = (bytes[4096] ?? 0) ^ 1;
  await writeFile(join(directory, name), bytes);
  const backup = await backupUntil(stage(), 'flipped', (one) => one.status?.finishedAt !== undefined);
  assert.equal(reasonOf(backup), 'WrongDigest', messageOf(backup));
  assert.equal(backup.status?.verified, undefined);
  assert.match(messageOf(backup), /keep older backups until one is verified/);
  assert.ok(!(await readdir(directory)).some((one) => one.endsWith('.verified.json')));
});

test('a backup goes with its Jobs, and leaves the object where it is', async () => {
  const { kubectl, namespace } = stage();
  const first = await stage().get<EtcdBackup>(resources.backups, 'first');
  assert.ok(first);
  await kubectl(['delete', 'etcdbackups.etcd.ratchet.dev', '-n', namespace, 'first']);
  await until('its Job is collected', async () => !(await stage().get(resources.jobs, 'first-take-1')));
  assert.ok((await readdir(await claimDirectory())).includes('fixed.db'));
});
