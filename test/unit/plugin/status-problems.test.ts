import assert from 'node:assert/strict';
import { test } from 'node:test';
import { concernLines } from '../../../functions/plugin/first-problem.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { withCure } from '../../../reconcile/reasons/cure.ts';
import { offered } from '../../../reconcile/reasons/offers.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { cluster, condition, fleet, sessions } from '../../support/page/scene.ts';
import { now, saidOn } from '../../support/plugin/said.ts';

const made = '2026-11-23T12:00:00Z';
const justNow = now.toISOString();

function world(options: Parameters<typeof createFakeKube>[0] = {}): FakeKube {
  const kube = createFakeKube({ clock: () => now, ...options });
  kube.seed(resources.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'payments' } });
  return kube;
}

function unseen(name: string): EtcdCluster {
  const { status: _, ...rest } = cluster(`payments/${name}`);
  return { ...rest, metadata: { ...rest.metadata, creationTimestamp: made } };
}

function cronJob(spec: object, status: object = {}): KubeObject {
  const metadata = { namespace: 'etcd-ratchet', name: 'etcd-ratchet', uid: 'c', creationTimestamp: made };
  return { apiVersion: 'batch/v1', kind: 'CronJob', metadata, spec, status } as KubeObject;
}

const text = async (kube: FakeKube, ...args: readonly string[]) => (await saidOn(kube, ['status', ...args])).out;

test('a cluster that no pass has looked at says so, and where its trigger is to be looked for', async () => {
  const kube = world();
  kube.seed(resources.clusters, unseen('orders'));
  const out = await text(kube);
  assert.match(out, /\norders +Reconciling +0\/3 .* no pass has looked at it yet\n\n/);
  assert.match(out, /\nNoPass: no pass has looked at payments\/orders, which was made 3 h ago: there is no CronJob /);
  assert.match(out, /\n {2}do: {4}install etcd-ratchet, or name it by --installation\n$/);
  assert.equal((await saidOn(kube, ['status', '--exit-code'])).code, 3);
});

test('a CronJob that is suspended, or starts no Job, is named with what to type', async () => {
  const kube = world();
  kube.seed(resources.clusters, cluster('payments/orders'));
  assert.doesNotMatch(await text(kube), /NoPass/, 'nothing says that none has run');
  kube.seed(resources.cronJobs, cronJob({ suspend: true }));
  const out = await text(kube);
  assert.match(
    out,
    /\nNoPass: CronJob etcd-ratchet\/etcd-ratchet is suspended\n {2}do: {4}kubectl -n etcd-ratchet patch /,
  );
  kube.seed(resources.cronJobs, cronJob({}, { lastScheduleTime: made }));
  assert.match(await text(kube), /has started no Job since 2026-11-23T12:00:00Z\n {2}do: .*describe cronjob/);
  kube.seed(resources.cronJobs, cronJob({}, { lastScheduleTime: justNow }));
  assert.doesNotMatch(await text(kube), /NoPass/);
});

test('a pass that left its time at a fleet is a pass, whatever the CronJob says', async () => {
  const kube = world();
  kube.seed(resources.clusters, unseen('orders'));
  kube.seed(resources.cronJobs, cronJob({ suspend: true }));
  kube.seed(resources.fleets, fleet('production', { lastRun: justNow }));
  assert.doesNotMatch(await text(kube, '-A'), /NoPass/);
  const { passes } = JSON.parse((await saidOn(kube, ['status', '-A', '-o', 'json'])).out);
  assert.deepEqual(passes, { last: justNow });
});

test('no pass for hours is told once, not for each fleet, and to a program', async () => {
  const kube = world();
  kube.seed(resources.fleets, fleet('one', { lastRun: made }), fleet('two', { lastRun: made }));
  const out = await text(kube, '-A');
  assert.equal(out.match(/NoPass/g)?.length, 1);
  assert.match(out, /NoPass: no pass for 3 h: /);
  const { problems, passes } = JSON.parse((await saidOn(kube, ['status', '-A', '-o', 'json'])).out);
  assert.deepEqual(
    problems.map(({ reason }: { reason: string }) => reason),
    ['NoPass'],
  );
  assert.equal(passes.problem.reason, 'NoPass');
});

test('without the right to read the CronJob, status says so instead of why', async () => {
  const kube = world({ authorize: ({ resource }) => resource.plural !== 'cronjobs' });
  kube.seed(resources.clusters, unseen('orders'));
  const { code, out } = await saidOn(kube, ['status']);
  assert.equal(code, 0);
  assert.match(out, /you may not read CronJob\s+etcd-ratchet\/etcd-ratchet, which would say why\n/);
});

test('status prints the whole first problem, its cure and its runbook, and counts the others', async () => {
  const kube = world();
  kube.seed(resources.fleets, fleet('production', { lastRun: justNow }));
  kube.seed(resources.clusters, sessions, {
    ...sessions,
    metadata: { ...sessions.metadata, name: 'other', uid: 'other' },
  });
  const out = await text(kube, '-A');
  assert.match(out, /\nEtcdCluster web\/\S+ needs you\nQuorumLost: a quorum is lost for good: /);
  assert.match(out.replaceAll(/\n {2}/g, ' '), /of the others sessions-1 has the most data \(raft index 88214\)/);
  assert.match(
    out,
    /\n {2}do: {4}bring node-c back, or approve going on without them:\n {9}kubectl .*recover-quorum=cdf818194e3a8c32\/5d0c1f2ab9\n/,
  );
  assert.match(out, /\n {2}see: {3}\S+lost-quorum\.md\n {2}more: {2}kubectl ratchet -n web why \S+\n/);
  assert.match(out, /\n {2}and 1 more of what needs you\n$/);
});

test('a fleet with a stalled cluster that is not seen here is the problem itself', async () => {
  const kube = world();
  const stalled = [condition('Stalled', 'True', 'ClusterStalled', 'web/sessions is stalled: a quorum is lost')];
  kube.seed(resources.fleets, fleet('production', { lastRun: justNow, conditions: stalled }));
  const all = await saidOn(kube, ['status', '-A', '--exit-code']);
  assert.equal(all.code, 3);
  assert.match(
    all.out,
    /ClusterStalled: web\/sessions is stalled: a quorum is lost\n {2}more: .*why fleet\/production\n/,
  );
});

test('no line of a table is longer than 120 columns, and its last column goes on below', async () => {
  const kube = world();
  kube.seed(
    resources.clusters,
    cluster('payments/a-cluster-with-long-name', {
      conditions: [
        condition('Ready', 'False', 'UpgradingMember', 'word '.repeat(60)),
        condition('Reconciling', 'True', 'UpgradingMember', 'word '.repeat(60)),
      ],
    }),
  );
  const lines = (await text(kube, '-A')).split('\n');
  assert.ok(Math.max(...lines.map((line) => line.length)) <= 120);
  assert.match(lines[2] ?? '', /^ {6,}word/);
});

test('each way on is a line, what loses least first, and what is copied stands by itself', () => {
  const cure = offered([
    { loses: 'everything', cure: 'to start anew with no data, delete the EtcdCluster' },
    { loses: 'since', cure: 'restore a backup: {"kind":"EtcdCluster"}. It has what was written until then' },
    { loses: 'nothing', cure: 'approve it: kubectl -n web annotate etcdcluster sessions a=b' },
  ]);
  const lines = concernLines({ tone: 'bad', reason: 'QuorumLost', message: withCure('two are lost', cure) }, false);
  const ways = lines.slice(lines.findIndex((line) => line.startsWith('  do:'))).slice(0, 6);
  assert.deepEqual(ways, [
    '  do:    approve it:',
    '         kubectl -n web annotate etcdcluster sessions a=b',
    '  or:    restore a backup:',
    '         {"kind":"EtcdCluster"}',
    '         It has what was written until then',
    '  or:    to start anew with no data, delete the EtcdCluster',
  ]);
});
