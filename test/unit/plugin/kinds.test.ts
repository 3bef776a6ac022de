import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { kinds } from '../../../manifests/api/group.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { withRunbook } from '../../../reconcile/reasons/runbook.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { condition, fleet } from '../../support/page/scene.ts';
import { now, saidOn } from '../../support/plugin/said.ts';

const made = '2026-11-23T12:00:00Z';
const apiVersion = 'etcd.ratchet.dev/v1alpha1';

function object(kind: string, name: string, facts: object): KubeObject {
  const metadata = { namespace: 'payments', name, uid: `uid-${name}`, generation: 1, creationTimestamp: made };
  return { apiVersion, kind, metadata, ...facts } as KubeObject;
}

const failing = object('EtcdBackup', 'orders-1', {
  spec: { clusterName: 'orders', to: { object: 's3://b/1.db' } },
  status: {
    observedGeneration: 1,
    attempt: {
      number: 2,
      stage: 'Take',
      job: 'orders-1-take-2',
      object: 's3://b/1.db',
      startedAt: '2026-11-23T12:10:00Z',
    },
    lastFailure: { reason: 'StoreRefused', message: 'the bucket \u001b[2J says no', at: '2026-11-23T12:05:00Z' },
    conditions: [
      condition('Ready', 'False', 'ClusterAbsent', 'there is no EtcdCluster payments/orders'),
      condition(
        'Stalled',
        'True',
        'ClusterAbsent',
        withRunbook('there is no EtcdCluster payments/orders', 'EtcdBackup'),
      ),
    ],
  },
});
const schedule = object('EtcdBackupSchedule', 'nightly', {
  spec: { schedule: '30 2 * * *', template: { clusterName: 'orders' } },
  status: {
    ...{ observedGeneration: 1, nextAt: '2026-11-24T02:30:00Z', lastAt: '2026-11-23T02:30:00Z', lastName: 'nightly-1' },
    conditions: [condition('Ready', 'True', 'Scheduled', 'the next one is due at 02:30')],
  },
});
const restore = object('EtcdRestore', 'again', {
  spec: { backupName: 'orders-0', cluster: { name: 'again', spec: {} } },
  status: { observedGeneration: 1, startedAt: '2026-11-23T12:01:00Z', object: 's3://b/0.db' },
});
const policy: KubeObject = {
  ...object('EtcdNodePolicy', 'workers', {}),
  metadata: { name: 'workers', uid: 'uid-workers', creationTimestamp: made },
  spec: { nodeSelector: {} },
  status: {
    ...{ observedGeneration: 1, nodes: 3, needed: 1, inProgress: 0, done: 4 },
    lastDone: { node: 'node-3', at: '2026-11-23T11:00:00Z' },
    blocked: [{ node: 'node-1', reason: 'NodeNotReady', message: 'node-1 is not Ready' }],
    conditions: [
      condition('Ready', 'False', 'NodeNotReady', 'node-1 is not Ready'),
      condition('Stalled', 'True', 'NodeNotReady', 'node-1 is not Ready'),
    ],
  },
} as KubeObject;

function event(name: string, about: KubeObject, note: string): KubeObject {
  const { name: regardingName, uid } = about.metadata;
  return {
    ...{ apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { namespace: 'payments', name } },
    ...{ eventTime: '2026-11-23T14:00:00.000000Z', type: 'Warning', action: 'Report', reason: 'Retrying', note },
    regarding: { kind: about.kind, name: regardingName, uid },
  } as KubeObject;
}

function world(options: Parameters<typeof createFakeKube>[0] = {}): FakeKube {
  const kube = createFakeKube({ clock: () => now, ...options });
  kube.seed(resources.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'payments' } });
  kube.seed(resources.backups, failing);
  kube.seed(resources.schedules, schedule);
  kube.seed(resources.restores, restore);
  kube.seed(resources.nodePolicies, policy);
  kube.seed(
    resources.events,
    event('one', failing, 'again'),
    event('other', { ...failing, metadata: { ...failing.metadata, uid: 'x' } }, 'of an earlier one'),
  );
  return kube;
}

const text = async (...args: readonly string[]) => (await saidOn(world(), args)).out;

test('why of a backup says what its reason means, what to do, and how the last attempt failed', async () => {
  const out = await text('why', 'backup/orders-1');
  assert.match(
    out,
    /^EtcdBackup payments\/orders-1: ClusterAbsent\n\nClusterAbsent: there is no EtcdCluster payments\/orders\n/,
  );
  assert.match(
    out,
    /\n {2}means: There is no EtcdCluster of that name in the namespace\.\n {2}do: {4}do what the message says/,
  );
  assert.match(out, /\nFailed +StoreRefused: the bucket \\u001b\[2J says no\n/);
  assert.match(out, /\nAttempt +2, Take by Job orders-1-take-2 for 2 h\n/);
});

test('why knows schedules, restores and node policies, by word, plural and kind', async () => {
  assert.match(
    await text('why', 'schedule/nightly'),
    /^EtcdBackupSchedule payments\/nightly: Scheduled\n {2}the next one[\s\S]*\nNext +in 11 h\n/,
  );
  assert.match(
    await text('why', 'etcdrestores/again'),
    /^EtcdRestore payments\/again: Reconciling\n {2}no pass has looked at it yet\n[\s\S]*\nBackup +orders-0\n/,
  );
  const told = await text('why', 'EtcdNodePolicy/workers');
  assert.match(
    told,
    /^EtcdNodePolicy workers: NodeNotReady\n\nNodeNotReady: node-1 is not Ready\n {2}means: The node is not Ready/,
  );
  assert.match(told, /\nNodes +3: 1 need a reboot, 0 in progress, 4 done\nWaits +node-1: NodeNotReady: /);
});

test('why of a fleet says each problem of its documents, its cure, and what it asks to approve', async () => {
  const kube = world();
  const stalled = withRunbook('a.yaml:3:5: spec.replicas must be at most 9', 'EtcdFleet');
  const problems = [{ file: 'a.yaml', line: 3, column: 5, message: 'spec.replicas must be at most 9' }];
  kube.seed(
    resources.fleets,
    fleet('production', {
      ...{ lastRun: now.toISOString(), problems, problemCount: 3 },
      conditions: [condition('Stalled', 'True', 'InvalidDocuments', stalled)],
      approvals: [
        {
          annotation: 'etcd.ratchet.dev/confirm-prune',
          value: 'v',
          reason: 'Prune',
          approves: 'two go',
          loses: 'all of them',
        },
      ],
    } as never),
  );
  const { code, out } = await saidOn(kube, ['why', 'fleet/production', '-n', 'etcd-ratchet']);
  assert.equal(code, 0);
  assert.match(
    out,
    /^EtcdFleet etcd-ratchet\/production: Stalled\n\nInvalidDocuments: a\.yaml:3:5: .*\n {2}see: {3}\S+fleet\.md\n/,
  );
  assert.match(
    out,
    /\n {2}approves: two go\n {2}loses: {4}all of them\n {2}do: +kubectl ratchet -n etcd-ratchet approve --fleet production\n/,
  );
  assert.match(out, /\nProblem +a\.yaml:3:5: spec\.replicas must be at most 9\nProblem +and 2 more\n/);
  for (const typed of ['ef', 'EtcdFleet', 'etcdfleets', 'fleets'])
    assert.equal((await saidOn(kube, ['why', `${typed}/production`, '-n', 'etcd-ratchet'])).out, out, typed);
  const json = JSON.parse((await saidOn(kube, ['why', 'fleet/production', '-n', 'etcd-ratchet', '-o', 'json'])).out);
  assert.deepEqual([json.state, json.concerns[0].reason, json.approvals.length], ['Stalled', 'InvalidDocuments', 1]);
});

test('history of a fleet are its revisions, of the others their times and events', async () => {
  const kube = world();
  const history = [
    { revision: 'main@sha1:bb', outcome: 'Refused', at: '2026-11-23T13:00:00Z' },
    { revision: 'main@sha1:aa', outcome: 'Applied', at: '2026-11-23T12:00:00Z' },
  ] as const;
  kube.seed(resources.fleets, fleet('production', { history }));
  const { out } = await saidOn(kube, ['history', 'fleet/production', '-n', 'etcd-ratchet']);
  assert.match(
    out,
    /^AT +WHAT +OUTCOME +REASON +MESSAGE\n\S+13:00:00Z +main@sha1:bb +Refused +-\n\S+12:00:00Z +main@sha1:aa +Applied +-\n$/,
  );
  const lines = (await text('history', 'backup/orders-1'))
    .split('\n')
    .slice(1)
    .map((line) => line.split(/ {2,}/).slice(1, 3).join('|'));
  assert.deepEqual(lines, ['Report|Warning', 'begun: Take, attempt 2|done', 'attempt|failed', 'asked for|done', '']);
  assert.match(await text('history', 'schedule/nightly'), /last backup due +done +- +nightly-1\n/);
  assert.match(await text('history', 'restore/again'), /cluster made +done +- +EtcdCluster again\n.*asked for/);
  assert.match(await text('history', 'nodepolicy/workers'), /reboot of node-3 done +done/);
  const yaml = parse((await saidOn(world(), ['history', 'backup/orders-1', '-o', 'yaml'])).out);
  assert.equal(yaml.history[0].reason, 'Retrying');
});

test('history without the right to read events shows the rest, and says which right is missing', async () => {
  const kube = world({ authorize: ({ resource }) => resource.plural !== 'events' });
  const { code, out, err } = await saidOn(kube, ['history', 'backup/orders-1']);
  assert.equal(code, 0);
  assert.match(out, /asked for/);
  assert.match(err, /^you may not read events: /);
});

test('a name that is not there is told with those that are, an unknown kind is refused', async () => {
  const { code, err } = await saidOn(world(), ['why', 'backup/order']);
  assert.deepEqual([code, err], [1, 'error: there is no EtcdBackup payments/order; there are: orders-1\n']);
  assert.match((await saidOn(world(), ['why', 'nodepolicy/x'])).err, /no EtcdNodePolicy x; there are: workers\n/);
  assert.match(
    (await saidOn(world(), ['why', 'fleet/x'])).err,
    /no EtcdFleet payments\/x; there is none in this namespace/,
  );
  for (const name of ['pod/x', 'fleet/a/b', 'fleet/', '/x', 'fleet/../x']) {
    const kube = world();
    const said = await saidOn(kube, ['why', name]);
    assert.equal(said.code, 2, name);
    assert.equal(kube.journal().length, 0);
  }
});

test('every kind but that of members has a row', async () => {
  for (const kind of kinds.filter((one) => one !== 'EtcdPeer')) {
    const { code, err } = await saidOn(world(), ['why', `${kind}/none`]);
    assert.equal(code, 1, kind);
    assert.match(err, new RegExp(`there is no ${kind} `));
  }
});
