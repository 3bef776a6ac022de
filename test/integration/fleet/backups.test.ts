import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseReport } from '../../../functions/page/check-report.ts';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../../manifests/api/etcd-backup-schedule.ts';
import { type Kube, type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { context, setStage } from './checks-stage.ts';
import { clusterYaml, type Scene, setScene } from './scene.ts';

/** Backups and schedules in a fleet's repository, beside the clusters. */

const backupYaml = (name: string, object = 'gs://bucket/{{timestamp}}.db') => `apiVersion: etcd.ratchet.dev/v1alpha1
kind: EtcdBackup
metadata: { name: ${name}, namespace: payments }
spec:
  clusterName: orders
  to: { object: "${object}" }
`;

const scheduleYaml = (name: string, schedule = '30 2 * * *') => `apiVersion: etcd.ratchet.dev/v1alpha1
kind: EtcdBackupSchedule
metadata: { name: ${name}, namespace: payments }
spec:
  schedule: "${schedule}"
  template:
    clusterName: orders
    to: { object: "gs://bucket/{{cluster}}/{{timestamp}}.db" }
`;

const files = { 'a.yaml': clusterYaml('orders'), 'b.yaml': backupYaml('orders'), 'c.yaml': scheduleYaml('orders') };

const backups = ({ fake }: Scene) => fake.stored<EtcdBackup>(resources.backups);
const schedules = ({ fake }: Scene) => fake.stored<EtcdBackupSchedule>(resources.schedules);
const ready = (scene: Scene) => {
  const { reason, message } = conditionOf(scene.fleet().status, 'Ready') ?? {};
  return `${reason}: ${message}`;
};

/** As a controller reports. */
function report<T extends EtcdBackup | EtcdBackupSchedule>(
  scene: Scene,
  plural: 'backups' | 'schedules',
  one: T,
  status: 'True' | 'False',
  message: string,
): void {
  const at = '2026-01-01T00:00:00Z';
  const condition = (type: string, status: 'True' | 'False') => ({
    type,
    status,
    reason: 'Because',
    message,
    lastTransitionTime: at,
  });
  const conditions = [condition('Ready', status), ...(status === 'False' ? [condition('Stalled', 'True')] : [])];
  scene.fake.seed(resources[plural], {
    ...one,
    status: { observedGeneration: one.metadata.generation ?? 0, conditions },
  });
}

async function applied(prune = false): Promise<Scene> {
  const scene = await setScene();
  await scene.repository.commit(files);
  scene.addFleet('production', { prune });
  await scene.pass();
  return scene;
}

test('one commit brings a cluster, its schedule and a backup of the same name', async () => {
  await using scene = await applied();
  assert.deepEqual(
    scene.clusters().map(({ metadata }) => metadata.name),
    ['orders'],
  );
  for (const [one] of [backups(scene), schedules(scene)]) {
    assert.equal(one?.metadata.annotations?.['etcd.ratchet.dev/fleet-name'], 'platform/production');
    assert.equal(one?.metadata.labels?.['etcd.ratchet.dev/fleet'], scene.fleet().metadata.uid);
  }
  const { inventory, clusters } = scene.fleet().status ?? {};
  assert.deepEqual(
    inventory?.map(({ kind, name, source }) => [kind, name, source]),
    [
      [undefined, 'orders', 'a.yaml'],
      ['EtcdBackup', 'orders', 'b.yaml'],
      ['EtcdBackupSchedule', 'orders', 'c.yaml'],
    ],
  );
  assert.equal(clusters?.total, 1);
  // And that is a settled state: one request to Git, nothing fetched.
  const before = scene.git.requests.length;
  await scene.pass();
  assert.equal(scene.git.requests.length - before, 1);
});

test('a changed schedule is applied', async () => {
  await using scene = await applied();
  await scene.repository.commit({ ...files, 'c.yaml': scheduleYaml('orders', '@hourly') });
  await scene.pass();
  assert.equal(schedules(scene)[0]?.spec.schedule, '@hourly');
});

test('a backup whose object is gone is not taken again, however often its commit is applied', async () => {
  await using scene = await applied();
  const [taken] = backups(scene);
  scene.fake.remove(resources.backups, 'payments', 'orders');
  const before = scene.git.requests.length;
  await scene.pass();
  assert.equal(scene.git.requests.length - before, 1, 'nothing is left to apply');
  await scene.repository.commit({ ...files, 'd.yaml': clusterYaml('users') });
  await scene.pass();
  await scene.annotateFleet('production', 'etcd.ratchet.dev/reconcile', 'now');
  await scene.pass();
  assert.deepEqual(backups(scene), []);
  assert.ok(
    scene.fleet().status?.inventory?.some(({ uid }) => uid === taken?.metadata.uid),
    'it is remembered',
  );
  // A schedule that was deleted by hand comes back.
  scene.fake.remove(resources.schedules, 'payments', 'orders');
  await scene.pass();
  assert.equal(schedules(scene).length, 1);
  // Once Git no longer lists it, the name is free.
  const { 'b.yaml': _, ...others } = files;
  await scene.repository.commit(others);
  await scene.pass();
  await scene.repository.commit(files);
  await scene.pass();
  assert.equal(backups(scene).length, 1);
});

const restore = `apiVersion: etcd.ratchet.dev/v1alpha1
kind: EtcdRestore
metadata: { name: back, namespace: payments }
spec: { backupName: orders, cluster: { name: back, spec: { replicas: 3, version: 3.6.16, storage: { size: 1Gi }, tls: { mode: Disabled } } } }
`;

test('a restore in Git is asked for once, also when its EtcdRestore is gone', async () => {
  await using scene = await setScene();
  await scene.repository.commit({ ...files, 'r.yaml': restore });
  scene.addFleet('production');
  await scene.pass();
  assert.equal(scene.fake.stored(resources.restores).length, 1);
  scene.fake.remove(resources.restores, 'payments', 'back');
  await scene.repository.commit({ ...files, 'r.yaml': restore, 'd.yaml': clusterYaml('users') });
  await scene.pass();
  await scene.annotateFleet('production', 'etcd.ratchet.dev/reconcile', 'now');
  await scene.pass();
  assert.deepEqual(scene.fake.stored(resources.restores), []);
  assert.equal(scene.clusters().length, 2);
});

test('with pruning on a restore that Git no longer lists goes', async () => {
  await using scene = await setScene();
  await scene.repository.commit({ ...files, 'r.yaml': restore });
  scene.addFleet('production', { prune: true });
  await scene.pass();
  assert.equal(scene.fake.stored(resources.restores).length, 1);
  await scene.repository.commit(files);
  await scene.pass();
  assert.deepEqual(scene.fake.stored(resources.restores), []);
});

test('a cluster may go together with its schedule and backup; two clusters take a confirmation', async () => {
  await using scene = await applied(true);
  await scene.repository.commit({ 'z.yaml': clusterYaml('users') });
  await scene.pass();
  assert.deepEqual(
    [scene.clusters().map(({ metadata }) => metadata.name), backups(scene), schedules(scene)],
    [['users'], [], []],
  );
  await using two = await applied(true);
  await two.repository.commit({ ...files, 'd.yaml': clusterYaml('carts') });
  await two.pass();
  await two.repository.commit({ 'z.yaml': clusterYaml('users') });
  await two.pass();
  assert.equal(conditionOf(two.fleet().status, 'Stalled')?.reason, 'PruneNeedsConfirmation');
  assert.equal(schedules(two).length, 1);
});

test('with pruning off what Git no longer lists stays, and is named with its kind', async () => {
  await using scene = await applied();
  const { 'c.yaml': _, ...others } = files;
  await scene.repository.commit(others);
  await scene.pass();
  assert.equal(schedules(scene).length, 1);
  assert.match(conditionOf(scene.fleet().status, 'Unlisted')?.message ?? '', /payments\/EtcdBackupSchedule\/orders/);
});

test('a wrong schedule is told at its place, and keeps nothing else from being applied', async () => {
  await using scene = await applied();
  await scene.repository.commit({
    ...files,
    'a.yaml': clusterYaml('orders'),
    'c.yaml': scheduleYaml('orders', '30 25 * * *'),
    'd.yaml': clusterYaml('users'),
  });
  await scene.pass();
  assert.match(ready(scene), /^DocumentsRefused: c\.yaml:5:13: .*hour "25" is out of range/);
  assert.equal(scene.clusters().length, 2);
  assert.equal(schedules(scene)[0]?.spec.schedule, '30 2 * * *');
});

test('a stale schedule and a failed backup are the news of their fleet', async () => {
  await using scene = await applied();
  const [backup] = backups(scene);
  const [schedule] = schedules(scene);
  assert.ok(backup && schedule);
  report(scene, 'backups', backup, 'True', 'verified');
  report(scene, 'schedules', schedule, 'False', 'the newest good backup is too old');
  await scene.pass();
  assert.equal(ready(scene), 'BackupsStalled: EtcdBackupSchedule payments/orders: the newest good backup is too old');
  report(scene, 'schedules', schedule, 'True', 'due');
  report(scene, 'backups', backup, 'False', 'the bucket is full');
  await scene.pass();
  assert.equal(ready(scene), 'BackupsStalled: EtcdBackup payments/orders: the bucket is full');
});

test('a fleet whose account may not touch backups is told so, and its clusters are applied', async () => {
  await using scene = await setScene({
    authorize: ({ resource, user }) => user === undefined || resource.plural === 'etcdclusters',
  });
  await scene.repository.commit(files);
  scene.addFleet('production');
  await scene.pass();
  assert.equal(scene.clusters().length, 1);
  assert.match(ready(scene), /^DocumentsRefused: b\.yaml:1:1: EtcdBackup payments\/orders is forbidden/);
});

test('where the kinds are not installed, clusters are applied as before', async () => {
  await using scene = await setScene({ serves: ({ plural }) => !plural.startsWith('etcdbackup') });
  await scene.repository.commit({ 'a.yaml': clusterYaml('orders') });
  scene.addFleet('production');
  await scene.pass();
  assert.equal(scene.clusters().length, 1);
  assert.doesNotMatch(ready(scene), /EtcdBackup/);
});

test('a change request says what becomes of backups and schedules, and where they are wrong', async () => {
  await using stage = await setStage();
  const head = await stage.open(1, { 'c/once.yaml': backupYaml('before'), 'c/s.yaml': scheduleYaml('nightly') });
  await stage.check();
  assert.deepEqual(stage.forge.statusesOf(head).get(context)?.description, 'before: new backup; nightly: new schedule');
  const [kept] = stage.reports();
  assert.deepEqual(kept?.report.others, [
    'EtcdBackup payments/before: a backup is taken, once',
    'EtcdBackupSchedule payments/nightly: backups are made by it',
  ]);
  assert.match(
    kept?.markdown ?? '',
    /Backups, schedules and node policies\n\n- EtcdBackup payments\/before: a backup is taken, once/,
  );
  assert.deepEqual(parseReport(JSON.stringify(kept?.report)), kept?.report, 'the page can read it');
  assert.deepEqual(backups(stage.scene), []);

  const wrong = await stage.open(2, { 'c/s.yaml': scheduleYaml('nightly', '0 0 30 2 *') });
  await stage.check();
  const { state, description = '' } = stage.forge.statusesOf(wrong).get(context) ?? {};
  assert.equal(state, 'failure');
  assert.match(description, /^c\/s\.yaml:5:13: spec\.schedule .*it is never due: month 2 has no day 30/);
});

test('beside 300 backups of a schedule, a pass at rest lists only what the fleet applied', async () => {
  await using scene = await applied();
  const [own] = backups(scene);
  assert.ok(own);
  const sizeOf = async () => {
    const listed: EtcdBackup[] = [];
    const kube: Kube = {
      ...scene.kube,
      list: async <T extends KubeObject>(...[resource, options]: Parameters<Kube['list']>) => {
        const answer = await scene.kube.list<T>(resource, options);
        if (resource.plural === 'etcdbackups') listed.push(...(answer.items as unknown as EtcdBackup[]));
        return answer;
      },
    };
    await scene.pass('production', { kube });
    return { count: listed.length, bytes: JSON.stringify(listed).length };
  };
  await scene.pass();
  const before = await sizeOf();
  for (let number = 0; number < 300; number += 1) {
    const labels = { 'etcd.ratchet.dev/managed-by': 'etcd-ratchet', 'etcd.ratchet.dev/schedule': 'orders' };
    const metadata = { name: `orders-${number}`, namespace: 'payments', uid: `made-${number}`, labels };
    scene.fake.seed(resources.backups, { ...own, metadata });
  }
  const now = await sizeOf();
  assert.ok(before.count > 0, 'its own is looked at');
  assert.deepEqual(now, before);

  // A commit that names one of those is told so: it is looked at in full.
  await scene.repository.commit({ ...files, 'd.yaml': backupYaml('orders-7') });
  assert.ok((await sizeOf()).count > 300);
});
