/** EtcdBackups on the local cluster: real Jobs, real stores, a writer beside them, and what goes wrong. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Range } from 'etcd3';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { Job, Pod, Secret } from '../../manifests/kube-types.ts';
import { reconcilerSecretName } from '../../manifests/render/certificate-names.ts';
import { forBackupsLabels } from '../../manifests/render/offers.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { type Emulator, s3Secret, startFakeGcs, startVersity } from '../integration/backup/emulators.ts';
import { backupStore, storeDirectory } from './support/backup-store.ts';
import { backupUntil, createBackup, keysIn, messageOf, reasonOf, startGate } from './support/backups.ts';
import { connectTo, credentialsIn } from './support/client.ts';
import { isReady } from './support/conditions.ts';
import { installNamespaced } from './support/installed.ts';
import { writeKey } from './support/keys.ts';
import { node } from './support/node.ts';
import { type Scene, scene } from './support/scene.ts';
import { until } from './support/until.ts';
import { startWriter } from './support/writer.ts';

/** Where pods reach this machine. */
const host = '10.244.0.1';
let gcs: Emulator;
let s3: Emulator;
const stage = scene({ host, furnish });

async function furnish(opened: Scene): Promise<void> {
  const { kubectl, namespace, pushCluster, tickUntil } = opened;
  [gcs, s3] = await Promise.all([startFakeGcs(undefined, host), startVersity(host)]);
  await installNamespaced(opened);
  const furniture = [
    secret('s3-key', { 'access-key-id': 'access', 'secret-access-key': s3Secret }),
    backupStore(namespace),
  ];
  await kubectl(['create', '-f', '-'], { stdin: furniture.map((one) => JSON.stringify(one)).join('\n---\n') });
  await pushCluster('orders', { replicas: 1 });
  await tickUntil('orders', isReady, 120);

  function secret(name: string, stringData: Readonly<Record<string, string>>) {
    return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, labels: forBackupsLabels }, stringData };
  }
}

after(async () => {
  await gcs?.[Symbol.asyncDispose]();
  await s3?.[Symbol.asyncDispose]();
});

const inPath = '{{namespace}}/{{cluster}}/{{timestamp}}.db';
const s3At = (endpoint: string) => ({ credentialsSecretName: 's3-key', endpoint, region: 'eu-test-1' });

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
  const stores = [{ directory: await storeDirectory(stage()) }, { gcs: { endpoint: gcs.url, anonymous: true } }];
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
  const directory = await storeDirectory(stage());
  const path = object.slice('pvc://backups/'.length);
  assert.partialDeepStrictEqual(JSON.parse(await readFile(join(directory, `${path}.verified.json`), 'utf8')), {
    object,
  });
  const told = JSON.stringify(done) + JSON.stringify(await stage().list<Job>(resources.jobs));
  assert.ok(!told.includes(s3Secret), 'no Secret is in a status or a Job');
});

test('with authentication on, an application is an ordinary user, and backups are taken', async () => {
  const { access, get, namespace, pushCluster, tickUntil } = stage();
  await pushCluster('guarded', { replicas: 1 });
  await tickUntil('guarded', isReady, 120);
  const way = await access('guarded');
  const credentials = credentialsIn(await get<Secret>(resources.secrets, reconcilerSecretName('guarded')));
  const [root, application] = [connectTo({ ...way, credentials }, 10_000), connectTo(way, 10_000)];
  try {
    await root.role('own').create();
    await root.role('own').grant({ permission: 'Readwrite', range: Range.prefix('own/') });
    for (const [name, role] of [
      ['root', 'root'],
      ['guarded-client', 'own'],
    ] as const) {
      await root.auth.userAdd({ name, options: { no_password: true } });
      await root.user(name).addRole(role);
    }
    await root.auth.authEnable();
    await application.put('own/a').value('1');
    await assert.rejects(application.put('other/a').value('1').exec(), /permission denied/);
  } finally {
    root.close();
    application.close();
  }
  await createBackup(stage(), 'guarded', { clusterName: 'guarded', to: { object: `pvc://backups/${inPath}` } });
  const backup = await backupUntil(stage(), 'guarded', (one) => one.status?.finishedAt !== undefined);
  assert.equal(reasonOf(backup), 'Verified', messageOf(backup));
  await tickUntil('guarded', isReady);
  const { object = '' } = backup.status ?? {};
  assert.match(object, new RegExp(`^pvc://backups/${namespace}/guarded/`));
});

test('a Secret that is not there, or not offered, is named, and the backup goes on once it is', async () => {
  const { kubectl, namespace } = stage();
  const key = { ...s3At(s3.url), credentialsSecretName: 'late-key' };
  await createBackup(stage(), 'late', { to: { object: `s3://backups/${inPath}`, s3: key }, verify: 'Trailer' });
  await backupUntil(stage(), 'late', (one) => /^there is no Secret .*late-key/.test(messageOf(one)));
  await kubectl([
    ...['create', 'secret', 'generic', 'late-key', '-n', namespace],
    ...['--from-literal=access-key-id=access', `--from-literal=secret-access-key=${s3Secret}`],
  ]);
  const asked = await backupUntil(stage(), 'late', (one) => /is not for backups/.test(messageOf(one)));
  assert.equal(reasonOf(asked), 'NotOffered');
  const [, command = ''] = /: kubectl (.*)$/.exec(messageOf(asked)) ?? [];
  await kubectl(command.split(' '));
  const backup = await backupUntil(stage(), 'late', (one) => one.status?.finishedAt !== undefined);
  assert.equal(reasonOf(backup), 'Taken', messageOf(backup));
  assert.equal(backup.status?.attempt?.number, 1);
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

test('a backup goes with its Jobs, and leaves the object where it is', async () => {
  const { kubectl, namespace, get } = stage();
  const { object = '' } = (await get<EtcdBackup>(resources.backups, 'to-volume'))?.status ?? {};
  assert.ok(await get(resources.jobs, 'to-volume-take-1'));
  await kubectl(['delete', 'etcdbackups.etcd.ratchet.dev', '-n', namespace, 'to-volume']);
  await until('its Job is collected', async () => !(await get(resources.jobs, 'to-volume-take-1')));
  assert.ok((await readFile(join(await storeDirectory(stage()), object.slice('pvc://backups/'.length)))).length > 0);
});

/** With the rights that the install gives to the CronJob's pods, and no others. */
test('one trigger is enough: follow-up Jobs see a backup from its request to its proof', async (t) => {
  const { kubectl, namespace, get, list } = stage();
  await createBackup(stage(), 'asked-for', { to: { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db' } });
  await kubectl(['-n', namespace, 'create', 'job', '--from=cronjob/etcd-ratchet', 'once']);
  let last = '';
  const backup = await until(
    'the backup is at its end',
    async () => {
      const found = await get<EtcdBackup>(resources.backups, 'asked-for');
      last = JSON.stringify(found?.status);
      return found?.status?.finishedAt === undefined ? undefined : found;
    },
    { within: 180, last: () => last },
  );
  assert.equal(reasonOf(backup), 'Verified', messageOf(backup));
  const took = Date.parse(backup.status?.finishedAt ?? '') - Date.parse(backup.metadata.creationTimestamp ?? '');
  t.diagnostic(`from request to proof ${took / 1000} s`);
  // What only the install's roles allow, or don't: events, status, Jobs and their pods.
  // Looked at once more where a pod has gone meanwhile, or has not started: those of Jobs come and go.
  const logs = await until('its pods have said something', async () => {
    const pods = (await list<Pod>(resources.pods)).map(({ metadata }) => metadata.name);
    const links = pods.filter((name) => name.startsWith('etcd-ratchet-') || name.startsWith('once'));
    const said = await Promise.all(links.map((name) => node().logs(namespace, name)));
    return said.length > 0 && said.every((log) => log !== '') && said;
  });
  for (const log of logs) assert.doesNotMatch(log, /forbidden|cannot be watched/i);
});
