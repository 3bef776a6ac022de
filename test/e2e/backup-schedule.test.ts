import assert from 'node:assert/strict';
import { readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Job, PersistentVolumeClaim } from '../../manifests/kube-types.ts';
import { type KubeObject, resources } from '../../reconcile/interfaces/kube.ts';
import { makeBackupStore, storeDirectory } from './support/backup-store.ts';
import { condition, isConverged, isStalledFor, isWholeOf } from './support/conditions.ts';
import { doneIn } from './support/done.ts';
import { assertForetold, foretell } from './support/foretold.ts';
import { readKey, writeKey } from './support/keys.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';

/** Backups that a change of a cluster waits for; schedules and their retention, down to the files of a real store. */

const stage = scene({
  fleet: { prune: true },
  furnish: async (opened) => {
    await makeBackupStore(opened);
    await opened.push({ 'README.md': 'nothing yet' });
  },
});

const to = { object: 'pvc://backups/{{namespace}}/{{cluster}}/{{name}}-{{timestamp}}.db' };

function document(kind: string, name: string, spec: object): string {
  const { namespace } = stage();
  return JSON.stringify({ apiVersion: 'etcd.ratchet.dev/v1alpha1', kind, metadata: { name, namespace }, spec });
}

function schedule(name: string, spec: object = {}): string {
  return document('EtcdBackupSchedule', name, {
    schedule: '* * * * *',
    timeZone: 'America/New_York',
    template: { clusterName: 'orders', to },
    ...spec,
  });
}

function files(): Readonly<Record<string, string>> {
  return {
    'clusters/orders.yaml': clusterYaml('orders', stage().namespace, { replicas: 1 }),
    'clusters/minutely.yaml': schedule('minutely', { retention: { last: 1 }, maxAge: '10m', history: { good: 2 } }),
    // Of the same prefix, and never of the other's backups.
    'clusters/beside.yaml': schedule('beside', {
      retention: { last: 50 },
      template: { clusterName: 'orders', to, verify: 'Trailer' },
    }),
    'clusters/once.yaml': document('EtcdBackup', 'once', { clusterName: 'orders', to }),
  };
}

async function store(): Promise<string> {
  return join(await storeDirectory(stage()), stage().namespace, 'orders');
}

async function stored(prefix: string): Promise<readonly string[]> {
  return (await readdir(await store())).filter((name) => name.startsWith(prefix)).toSorted();
}

async function find(name: string): Promise<EtcdBackupSchedule> {
  return (await stage().get<EtcdBackupSchedule>(resources.schedules, name)) ?? assert.fail(`there is no ${name}`);
}

async function ticksUntil<T>(what: string, look: () => Promise<T | undefined | false>, within = 240): Promise<T> {
  let last = '';
  return until(
    what,
    async () => {
      await stage().tick('--wait=10');
      const backups = await stage().list<EtcdBackup>(resources.backups);
      const told = backups.map((one) => `${one.metadata.name}: ${condition(one, 'Ready')?.message}`);
      const schedules = await stage().list<EtcdBackupSchedule>(resources.schedules);
      const { message } = condition(await stage().fleet(), 'Ready') ?? {};
      last = JSON.stringify([message, told, schedules.map(({ status }) => status)]);
      return (await look()) || undefined;
    },
    { within, last: () => last },
  );
}

/** A cluster that waits for its backups: before it sleeps, before it is upgraded, and before it goes. */
const waiting = {
  to: { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db' },
  beforeUpgrade: 'Required',
  beforeDeletion: 'Required',
  beforeHibernation: 'Required',
};
const single = { replicas: 1, backup: waiting, volumeRetention: { whenDeleted: 'Delete' } };

async function apply(name: string, fields: Readonly<Record<string, unknown>>, namespace = stage().namespace) {
  await stage().kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, fields) });
}

async function remove(name: string): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['-n', namespace, 'delete', 'etcdclusters.etcd.ratchet.dev', name, '--wait=false']);
}

async function untilGone(name: string): Promise<void> {
  const isGone = async () => (await stage().get<EtcdCluster>(resources.clusters, name)) === undefined;
  await stage().ticksUntil(`${name} is gone`, isGone, { within: 180 });
}

const isBackingUp = ({ status }: EtcdCluster) => status?.lastDecision?.reason === 'BackingUp';

/** The one that took a snapshot of it, by the change that waited for it. */
async function takenOf(name: string, change: string): Promise<EtcdBackup> {
  const own = (await stage().list<EtcdBackup>(resources.backups)).filter(({ metadata, spec }) => {
    return spec.existing === undefined && metadata.name.startsWith(`${name}-before-${change}-`);
  });
  assert.equal(own.length, 1, `EtcdBackups of ${name} before ${change}`);
  return own[0] ?? assert.fail();
}

test('asleep, a cluster goes only while what it was put to sleep on is in its store', async () => {
  const { tickUntil, access, get, list, kubectl, namespace } = stage();
  await apply('lasting', single);
  await tickUntil('lasting', isWholeOf(1));
  await writeKey(await access('lasting'), 'kept', 'to the end');
  await apply('lasting', { ...single, replicas: 0 });
  const isSeen = ({ metadata, status }: EtcdCluster) => status?.observedGeneration === metadata.generation;
  const held = await tickUntil('lasting', (found) => isSeen(found) && isBackingUp(found));
  assert.equal(condition(held, 'Available')?.status, 'True');
  const isAsleep = ({ status }: EtcdCluster) => status?.lastDecision?.reason === 'Hibernating' && !status.readyReplicas;
  await tickUntil('lasting', isAsleep, 120);
  await until('its pod is gone', async () => (await get(resources.pods, 'lasting-0-0')) === undefined);

  const { status } = await takenOf('lasting', 'hibernation');
  const file = join(await storeDirectory(stage()), (status?.object ?? '').replace('pvc://backups/', ''));
  await rename(file, `${file}-away`);
  await remove('lasting');
  const stalled = await tickUntil('lasting', isStalledFor('BackupFailed'), 120);
  const message = condition(stalled, 'Stalled')?.message ?? '';
  assert.match(message, /lasting\/.*\.db is not in the store any more: put it back/);
  assert.ok(await get(resources.volumeClaims, 'lasting-0'), 'the only copy stays');
  // A person puts it back, and does what the message says.
  await rename(`${file}-away`, file);
  const [, resource = '', name = ''] = /delete (etcdbackups\S*) (\S+):/.exec(message) ?? [];
  await kubectl(['-n', namespace, 'delete', resource, name]);
  await untilGone('lasting');
  const looks = (await list<EtcdBackup>(resources.backups)).filter(({ spec }) => spec.existing !== undefined);
  assert.deepEqual(
    looks.map((look) => [condition(look, 'Ready')?.reason, look.status?.object, look.status?.sha256]),
    [['Found', status?.object, status?.sha256]],
  );

  await apply('again', { ...single, bootstrap: { snapshot: { object: status?.object } } });
  await tickUntil('again', isWholeOf(1), 120);
  assert.equal(await readKey(await access('again'), 'kept'), 'to the end');
});

test('its upgrade, and then its end, begin when a backup was restored and compared', async (t) => {
  const { tickUntil, get, list } = stage();
  const versionsOf = ({ status }: EtcdCluster) => (status?.members ?? []).map(({ version }) => version);
  await apply('again', { ...single, version: '3.7.3', bootstrap: (await stage().cluster('again')).spec.bootstrap });
  const foretold = await foretell(stage(), 'again');
  assert.match(foretold.summary, /: a backup, 3\.6\.16→3\.7\.3/);
  assert.deepEqual(versionsOf(await tickUntil('again', isBackingUp)), ['3.6.16']);
  const upgraded = await tickUntil('again', (found) => isConverged(found) && versionsOf(found)[0] === '3.7.3', 180);
  t.diagnostic(assertForetold(foretold, upgraded));
  const made = await takenOf('again', '3-7-3');
  assert.equal(condition(made, 'Ready')?.status, 'True');
  assert.equal(made.status?.etcdVersion, '3.6.16', 'of what the lower version wrote');
  assert.ok(made.status?.verified, 'it was restored');
  const { generation } = upgraded.metadata;
  const own = doneIn(upgraded.status?.history).filter((step) => step.generation === generation);
  const restart = own.find(({ action }) => action === 'change-template');
  assert.ok(Date.parse(restart?.at ?? '') >= Date.parse(made.status?.finishedAt ?? ''), 'not before its backup ended');

  await remove('again');
  const waits = /the deletion waits until EtcdBackup again-before-deletion-/;
  await tickUntil('again', (found) => waits.test(condition(found, 'Ready')?.message ?? ''));
  assert.ok(await get(resources.volumeClaims, 'again-0'), 'its volume goes before its backup is Ready');
  await untilGone('again');
  const last = await takenOf('again', 'deletion');
  assert.equal(condition(last, 'Ready')?.reason, 'Verified');
  assert.equal(last.metadata.ownerReferences, undefined);
  const claims = await list<PersistentVolumeClaim>(resources.volumeClaims);
  assert.deepEqual(
    claims.map(({ metadata }) => metadata.name),
    ['backups'],
  );
});

test('a namespace that is deleted ends, though its cluster asks for a last backup', async () => {
  const { kubectl, kube } = stage();
  const other = `${stage().namespace}-ends`;
  // Of two namespaces the last one counts.
  const look = () => stage().tick('--namespace', other, '--wait=1');
  await kubectl(['create', 'namespace', other]);
  await apply('doomed', single, other);
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

test('a commit brings a cluster, schedules and a backup; each is verified and old ones go', async () => {
  const { push, tickUntil, kubectl, namespace } = stage();
  await push(files());
  await tickUntil('orders', isWholeOf(1), 90);
  await ticksUntil('the backup of the commit', async () => {
    const once = await stage().get<EtcdBackup>(resources.backups, 'once');
    return once?.status?.verified !== undefined;
  });
  await writeFile(join(await store(), 'minutely-by-hand.db'), 'a snapshot of a person');

  const first = await ticksUntil('a retention that removed something', async () => {
    const { retention } = (await find('minutely')).status ?? {};
    return retention?.finishedAt !== undefined && (retention.removed ?? 0) > 0 ? retention : undefined;
  });
  assert.partialDeepStrictEqual(first, { kept: 1, removed: first.names?.length, left: 0 });
  assert.equal(first.failure, undefined);
  const status = (await find('minutely')).status;
  assert.ok(status?.lastGood?.verifiedAt, 'it was restored and compared');
  const left = (await stored('minutely-')).filter((name) => name.endsWith('.db'));
  assert.ok(left.includes('minutely-by-hand.db'), 'what a person put there stays');
  // Those of the last minutes: the newest, and at most one for which retention has not run yet.
  assert.ok(left.length <= 3, left.join());
  // The newest may be written at this moment, and its record comes after it; one of before may be removed with its own.
  await until('each has its record', async () => {
    const now = await stored('minutely-');
    const theirs = left.filter((one) => one !== 'minutely-by-hand.db' && now.includes(one));
    return theirs.every((one) => now.includes(`${one}.json`));
  });
  const [gone = ''] = first.names ?? [];
  assert.match(gone, /^minutely-\d{12}-/);
  assert.deepEqual(await stored(gone), [], 'with record and proof');

  const beside = (await stored('beside-')).filter((name) => name.endsWith('.db'));
  assert.ok(beside.length >= 2, beside.join());
  assert.deepEqual((await stored('once-')).length, 3, 'object, record and proof');

  const shown = await kubectl(['-n', namespace, 'get', 'etcdbackupschedules']);
  assert.match(shown, /^NAME +CLUSTER +SCHEDULE +SUSPEND +READY +LAST +LAST GOOD +NEXT +AGE\n/);
  assert.match(shown, /minutely +orders +\* \* \* \* \* +false +True +\d+\w* +\d+\w* +\d{4}-/);
});

test('a backup in Git runs once: not with the next commit, and not when it was deleted', async () => {
  const { push, tick, kubectl, namespace } = stage();
  await push({ ...files(), 'clusters/users.yaml': clusterYaml('users', namespace, { suspend: true }) });
  await tick();
  await kubectl(['-n', namespace, 'delete', 'etcdbackup', 'once']);
  await push(files());
  await tick();
  await tick();
  assert.equal(await stage().get<EtcdBackup>(resources.backups, 'once'), undefined);
  assert.equal((await stored('once-')).length, 3);
});

test('a schedule that was edited by hand is put back, and a wrong one is told at its place', async () => {
  const { push, tick, kubectl, namespace, fleet } = stage();
  const patch = JSON.stringify({ spec: { schedule: '@yearly' } });
  await kubectl(['-n', namespace, 'patch', 'etcdbackupschedule', 'minutely', '--type=merge', '-p', patch]);
  await tick();
  assert.equal((await find('minutely')).spec.schedule, '* * * * *');
  await push({ ...files(), 'clusters/minutely.yaml': schedule('minutely', { schedule: '0 25 * * *' }) });
  await tick();
  assert.match(
    condition(await fleet(), 'Ready')?.message ?? '',
    /clusters\/minutely\.yaml:1:\d+: .*hour "25" is out of range/,
  );
  assert.equal((await find('minutely')).spec.schedule, '* * * * *');
});

test('a schedule whose file is gone is deleted with its EtcdBackups, and nothing in the store', async () => {
  const { push, tick, get, list } = stage();
  // A retention that was begun before goes on to its end.
  await until('no Job is under way', async () => {
    const jobs = await list<Job>(resources.jobs);
    return jobs.every(({ status }) => status?.conditions?.some(({ type }) => type === 'Complete' || type === 'Failed'));
  });
  const before = (await stored('minutely-')).filter((name) => name.endsWith('.db'));
  const { 'clusters/minutely.yaml': _, ...others } = files();
  await push(others);
  await tick();
  assert.equal(await get<EtcdBackupSchedule>(resources.schedules, 'minutely'), undefined);
  await until('its EtcdBackups to go', async () => {
    const left = await list<EtcdBackup>(resources.backups);
    return left.every(({ metadata }) => !metadata.name.startsWith('minutely-'));
  });
  const after = await stored('minutely-');
  for (const name of before) assert.ok(after.includes(name), name);
});
