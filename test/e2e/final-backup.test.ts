import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../manifests/kube-types.ts';
import { type KubeObject, resources } from '../../reconcile/interfaces/kube.ts';
import { makeBackupStore } from './support/backup-store.ts';
import { condition, isStalledFor, isWholeOf } from './support/conditions.ts';
import { readKey, writeKey } from './support/keys.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';

/** The last backup of a cluster: before it is deleted, and before it hibernates. */

const stage = scene({ fleet: false, clearedBetween: true, furnish: makeBackupStore });

const backup = {
  to: { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db' },
  beforeUpgrade: 'Never',
  beforeDeletion: 'Required',
  beforeHibernation: 'Required',
};
const nowhere = {
  ...backup,
  to: { object: 's3://backups/{{cluster}}/{{timestamp}}.db', s3: { endpoint: 'http://127.0.0.1:9' } },
};
const single = { replicas: 1, volumeRetention: { whenDeleted: 'Delete' } };

async function apply(name: string, fields: Readonly<Record<string, unknown>>, namespace = stage().namespace) {
  await stage().kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, fields) });
}

async function remove(name: string): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['-n', namespace, 'delete', 'etcdclusters.etcd.ratchet.dev', name, '--wait=false']);
}

async function untilGone(name: string): Promise<void> {
  const { get, tick: look } = stage();
  const isGone = async () => {
    await look('--wait=1');
    return (await get<EtcdCluster>(resources.clusters, name)) === undefined;
  };
  await until(`${name} is gone`, isGone, { within: 180 });
}

/** That which took a snapshot. */
async function backupOf(name: string): Promise<EtcdBackup> {
  const all = (await backupsOf(name)).filter(({ spec }) => spec.existing === undefined);
  assert.equal(all.length, 1, `EtcdBackups of ${name}`);
  return all[0] ?? assert.fail();
}

async function looksOf(name: string): Promise<readonly EtcdBackup[]> {
  return (await backupsOf(name)).filter(({ spec }) => spec.existing !== undefined);
}

async function backupsOf(name: string): Promise<readonly EtcdBackup[]> {
  return (await stage().list<EtcdBackup>(resources.backups)).filter(({ spec }) => spec.clusterName === name);
}

/** The file behind a `pvc://backups/…` object. */
async function fileOf(object = ''): Promise<string> {
  const { kube, get } = stage();
  const claim = await get<PersistentVolumeClaim>(resources.volumeClaims, 'backups');
  const volume = await kube.get<PersistentVolume>(resources.persistentVolumes, undefined, claim?.spec.volumeName ?? '');
  const path = (volume?.spec as { readonly local?: { readonly path: string } } | undefined)?.local?.path;
  return join(path ?? assert.fail('the store has no disk'), object.replace('pvc://backups/', ''));
}

test('a cluster goes when its last backup was restored and compared, and lives again from that', async () => {
  const { tickUntil, get, list, access } = stage();
  await apply('last', { ...single, backup });
  await tickUntil('last', isWholeOf(1));
  await writeKey(await access('last'), 'kept', 'to the end');
  await remove('last');
  const waits = /the deletion waits until EtcdBackup last-before-deletion-/;
  await tickUntil('last', (found) => waits.test(condition(found, 'Ready')?.message ?? ''));
  assert.ok(await get(resources.volumeClaims, 'last-0'), 'its volume goes before its backup is Ready');
  await untilGone('last');
  const made = await backupOf('last');
  assert.equal(condition(made, 'Ready')?.reason, 'Verified');
  assert.equal(made.metadata.ownerReferences, undefined);
  const claims = await list<KubeObject>(resources.volumeClaims);
  assert.deepEqual(
    claims.map(({ metadata }) => metadata.name),
    ['backups'],
  );

  await apply('again', { replicas: 1, bootstrap: { snapshot: { object: made.status?.object } } });
  await tickUntil('again', isWholeOf(1), 120);
  assert.equal(await readKey(await access('again'), 'kept'), 'to the end');
});

test('a last backup that fails holds the deletion, which a change of the spec lets go on', async () => {
  const { tickUntil, kubectl, namespace, get } = stage();
  await apply('held', { ...single, backup: nowhere });
  await tickUntil('held', isWholeOf(1));
  await remove('held');
  await tickUntil('held', (found) => found.status?.lastDecision?.reason === 'BackingUp');
  // What the agent would say after five tries, which take a while.
  const { metadata } = await backupOf('held');
  const at = new Date().toISOString().replace(/\.\d+/, '');
  const failed = { type: 'Ready', status: 'False', reason: 'Unreachable', message: 'the store is away' };
  const status = { observedGeneration: 1, finishedAt: at, conditions: [{ ...failed, lastTransitionTime: at }] };
  const patch = ['-n', namespace, 'patch', '--type=merge', '-p'];
  await kubectl([...patch, JSON.stringify({ status }), '--subresource=status', 'etcdbackup', metadata.name]);
  const stalled = await tickUntil('held', isStalledFor('BackupFailed'));
  const message = condition(stalled, 'Stalled')?.message ?? '';
  assert.match(message, /the store is away/);
  assert.ok(await get(resources.volumeClaims, 'held-0'));
  // The very command that it prints.
  const [, json = ''] = /--type merge -p '(\{.*\})'/.exec(message) ?? [];
  await kubectl([...patch, json, 'etcdclusters.etcd.ratchet.dev', 'held']);
  await untilGone('held');
});

test('members stop for a hibernation when its backup is Ready, and wake with their data', async () => {
  const { tickUntil, access } = stage();
  await apply('dozy', { ...single, backup });
  await tickUntil('dozy', isWholeOf(1));
  await writeKey(await access('dozy'), 'kept', 'asleep');
  await apply('dozy', { ...single, replicas: 0, backup });
  const waiting = await tickUntil('dozy', (found) => found.status?.lastDecision?.reason === 'BackingUp');
  assert.equal(condition(waiting, 'Available')?.status, 'True');
  await tickUntil('dozy', ({ status }) => status?.lastDecision?.reason === 'Hibernating' && !status.readyReplicas, 120);
  assert.equal(condition(await backupOf('dozy'), 'Ready')?.reason, 'Verified');
  await apply('dozy', { ...single, backup });
  await tickUntil('dozy', isWholeOf(1));
  assert.equal(await readKey(await access('dozy'), 'kept'), 'asleep');
});

test('a cluster that hibernates is deleted on the backup that it was put to sleep on', async () => {
  const { tickUntil, access, list } = stage();
  await apply('drowsy', { ...single, backup });
  await tickUntil('drowsy', isWholeOf(1));
  await writeKey(await access('drowsy'), 'kept', 'asleep');
  await apply('drowsy', { ...single, replicas: 0, backup });
  const isAsleep = ({ status }: EtcdCluster) => status?.lastDecision?.reason === 'Hibernating' && !status.readyReplicas;
  await tickUntil('drowsy', isAsleep, 120);
  await until('its pod is gone', async () => {
    const pods = await list<KubeObject>(resources.pods);
    return !pods.some(({ metadata }) => metadata.name === 'drowsy-0-0');
  });
  await remove('drowsy');
  await untilGone('drowsy');
  const { metadata, status } = await backupOf('drowsy');
  assert.match(metadata.name, /^drowsy-before-hibernation-/);
  const [look = assert.fail('nothing has looked'), ...others] = await looksOf('drowsy');
  assert.deepEqual(others, []);
  assert.equal(condition(look, 'Ready')?.reason, 'Found');
  assert.deepEqual([look.status?.object, look.status?.sha256], [status?.object, status?.sha256]);
  await apply('awake', { replicas: 1, bootstrap: { snapshot: { object: status?.object } } });
  await tickUntil('awake', isWholeOf(1), 120);
  assert.equal(await readKey(await access('awake'), 'kept'), 'asleep');
});

test('a cluster that hibernates stays when what it was put to sleep on is gone from its store', async () => {
  const { tickUntil, access, get, kubectl, namespace } = stage();
  await apply('bereft', { ...single, backup });
  await tickUntil('bereft', isWholeOf(1));
  await writeKey(await access('bereft'), 'kept', 'in the volume alone');
  await apply('bereft', { ...single, replicas: 0, backup });
  const isAsleep = ({ status }: EtcdCluster) => status?.lastDecision?.reason === 'Hibernating' && !status.readyReplicas;
  await tickUntil('bereft', isAsleep, 120);
  const file = await fileOf((await backupOf('bereft')).status?.object);
  await rename(file, `${file}-away`);
  await remove('bereft');
  const held = await tickUntil('bereft', isStalledFor('BackupFailed'), 120);
  const message = condition(held, 'Stalled')?.message ?? '';
  assert.match(message, /bereft\/.*\.db is not in the store any more: put it back/);
  assert.ok(await get(resources.volumeClaims, 'bereft-0'), 'the only copy stays');
  // A person puts it back, and does what the message says.
  await rename(`${file}-away`, file);
  const [, resource = '', name = ''] = /delete (etcdbackups\S*) (\S+):/.exec(message) ?? [];
  await kubectl(['-n', namespace, 'delete', resource, name]);
  await untilGone('bereft');
  assert.deepEqual(
    (await looksOf('bereft')).map((one) => condition(one, 'Ready')?.reason),
    ['Found'],
  );
});

test('a namespace that is deleted ends, though its cluster asks for a last backup', async () => {
  const { kubectl, kube } = stage();
  const other = `${stage().namespace}-ends`;
  // Of two namespaces the last one counts.
  const look = () => stage().tick('--namespace', other, '--wait=1');
  await kubectl(['create', 'namespace', other]);
  await apply('doomed', { ...single, backup }, other);
  const found = () => kube.get<EtcdCluster>(resources.clusters, other, 'doomed');
  const isThere = async () => {
    await look();
    const cluster = await found();
    return cluster !== undefined && isWholeOf(1)(cluster);
  };
  await until('doomed is whole', isThere, { within: 120 });
  await kubectl(['delete', 'namespace', other, '--wait=false']);
  let said = '';
  const isGone = async () => {
    said += (await look()).stderr;
    return (await kube.get<KubeObject>(resources.namespaces, undefined, other)) === undefined;
  };
  await until('the namespace is gone', isGone, { within: 180, last: () => said.slice(-800) });
});
