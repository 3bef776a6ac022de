/**
 * Admission gives each container of this namespace a user of the namespace's range, and refuses others: a stand-in for
 * OpenShift's default policy. The process node runs all as one user; real nodes (`--real-node`) run them as they are.
 */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Job, Pod, StatefulSet } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { blocksOf } from '../support/docs/blocks.ts';
import { read } from '../unit/docs/pages.ts';
import { assignNoMore, assignUsers, firstUser, usersOf } from './support/assigned-users.ts';
import { makeBackupStore } from './support/backup-store.ts';
import { condition, isStalledFor, isWholeOf } from './support/conditions.ts';
import { readKey, writeKey } from './support/keys.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { startWriter } from './support/writer.ts';

const stage = scene({
  fleet: false,
  furnish: async (opened) => {
    await assignUsers(opened);
    await makeBackupStore(opened);
  },
});

after(() => assignNoMore(stage()));

const page = 'docs/how-to/platforms.md';
const ofPage = blocksOf(page, read(page))
  .filter(({ kind }) => kind === 'yaml')
  .map(({ text }) => parse(text) as Pick<EtcdCluster, 'metadata' | 'spec'>)
  .find(({ metadata }) => metadata.name === 'assigned');
const podTemplate = ofPage?.spec.podTemplate ?? assert.fail(`${page} shows no such cluster`);

function apply(name: string, fields: Readonly<Record<string, unknown>>): Promise<string> {
  const { kubectl, namespace } = stage();
  return kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, fields) });
}

/** Those of one cluster, or all. Every one of them has the namespace's user, and no other. */
async function podsWithTheirUsers(cluster?: string): Promise<readonly Pod[]> {
  const all = await stage().list<Pod>(resources.pods);
  const pods = all.filter(
    ({ metadata }) => cluster === undefined || metadata.labels?.['etcd.ratchet.dev/cluster'] === cluster,
  );
  for (const pod of pods) assert.deepEqual(usersOf(pod), { users: [firstUser], group: firstUser }, pod.metadata.name);
  return pods;
}

const uids = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.uid).toSorted();

/** Ticks go by, and nothing of its members is made or written anew. */
async function restsAs(cluster: string, generation: number): Promise<void> {
  const { tick, get, list } = stage();
  const before = await podsWithTheirUsers(cluster);
  for (let n = 0; n < 3; n++) await tick();
  assert.deepEqual(uids(await podsWithTheirUsers(cluster)), uids(before), 'no pod is made anew');
  const restarts = before.map(({ status }) => status?.containerStatuses?.map(({ restartCount }) => restartCount));
  assert.deepEqual(restarts, [[0], [0], [0]]);
  for (const { metadata } of before) {
    const name = metadata.name.replace(/-0$/, '');
    assert.equal((await get<StatefulSet>(resources.statefulSets, name))?.metadata.generation, generation, name);
  }
  const events = await list<{ readonly metadata: { readonly name: string }; readonly reason?: string }>({
    ...{ apiVersion: 'v1', kind: 'Event', plural: 'events' },
  });
  assert.deepEqual(
    events.filter(({ reason }) => reason === 'FailedCreate'),
    [],
    'no pod is refused',
  );
}

test('members whose users the platform filled in are born and left alone', async () => {
  await apply('orders', { podTemplate });
  await stage().tickUntil('orders', isWholeOf(3), 120);
  assert.equal((await podsWithTheirUsers('orders')).length, 3);
  await restsAs('orders', 1);
  await writeKey(await stage().access('orders'), 'kept', 'under a user of theirs');
});

test('such members are rolled one by one, each once', async () => {
  const before = uids(await podsWithTheirUsers('orders'));
  const writer = startWriter(await stage().access('orders'), 'rolling');
  const rolled = { ...podTemplate, metadata: { annotations: { 'example.com/round': '2' } } };
  await apply('orders', { podTemplate: rolled });
  await stage().stepUntil('orders', isWholeOf(3), 180);
  assert.deepEqual((await writer.finish()).lost, []);
  const after = uids(await podsWithTheirUsers('orders'));
  assert.ok(!after.some((uid) => before.includes(uid)), 'each is another pod');
  await restsAs('orders', 2);
});

const document = (kind: string, name: string, spec: object) => ({
  ...{ apiVersion: 'etcd.ratchet.dev/v1alpha1', kind, metadata: { name, namespace: stage().namespace }, spec },
});

test('a backup, its drill, its retention and a restore run as the user of the namespace', async () => {
  const { kubectl, namespace, list, get, ticksUntil, tickUntil, access } = stage();
  const create = (object: object) => kubectl(['create', '-f', '-'], { stdin: JSON.stringify(object) });
  const template = { clusterName: 'orders', to: { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db' } };
  await create(document('EtcdBackupSchedule', 'each', { schedule: '* * * * *', retention: { last: 1 }, template }));
  const backup = await ticksUntil(
    'a backup that is proven',
    async () =>
      (await list<EtcdBackup>(resources.backups)).find((one) => condition(one, 'Ready')?.reason === 'Verified'),
    { within: 180 },
  );
  await kubectl([
    '-n',
    namespace,
    'patch',
    'etcdbackupschedule',
    'each',
    '--type=merge',
    '-p',
    '{"spec":{"suspend":true}}',
  ]);
  const isDone = ({ metadata, status }: Job) => metadata.name.includes('prune') && (status?.succeeded ?? 0) > 0;
  await ticksUntil('retention has run', async () => (await list<Job>(resources.jobs)).some(isDone), { within: 120 });

  const again = parse(clusterYaml('again', namespace, { replicas: 1, podTemplate })) as EtcdCluster;
  const cluster = { name: 'again', spec: again.spec };
  await create(document('EtcdRestore', 'again', { backupName: backup.metadata.name, cluster }));
  await ticksUntil('the restored cluster is there', () => get(resources.clusters, 'again'));
  await tickUntil('again', isWholeOf(1), 120);
  assert.equal(await readKey(await access('again'), 'kept'), 'under a user of theirs');
  await podsWithTheirUsers();
});

test('members that name a user of their own are refused, and the cluster says so', async () => {
  await apply('plain', { replicas: 1 });
  const stalled = await stage().tickUntil('plain', isStalledFor('PodRefused'), 120);
  assert.match(condition(stalled, 'Stalled')?.message ?? '', /1000 is outside of the range of the namespace/);
});
