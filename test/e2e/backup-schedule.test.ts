import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import type { Job, PersistentVolume, PersistentVolumeClaim } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { makeBackupStore } from './support/backup-store.ts';
import { condition, isWholeOf } from './support/conditions.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';

/** Schedules, their backups and their retention, from a commit to the files of a real store. */

const stage = scene({ fleet: { prune: true }, furnish: makeBackupStore });

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

/** The directory that the PersistentVolumeClaim stands for. */
async function store(): Promise<string> {
  const claim = await stage().get<PersistentVolumeClaim>(resources.volumeClaims, 'backups');
  const { kube } = stage();
  const volume = await kube.get<PersistentVolume>(resources.persistentVolumes, undefined, claim?.spec.volumeName ?? '');
  const path = (volume?.spec as { readonly local?: { readonly path: string } } | undefined)?.local?.path;
  return join(path ?? assert.fail('the store has no disk'), stage().namespace, 'orders');
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
      await stage().tick('--wait=3');
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
