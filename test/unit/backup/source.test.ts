import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AskedEtcd, chooseSource, type Source } from '../../../reconcile/backup/agent/source.ts';
import { type EndpointStatus, EtcdError } from '../../../reconcile/interfaces/etcd.ts';
import type { Alarm } from '../../../reconcile/interfaces/etcd-admin.ts';
import { BackupFailure, type FailureReason } from '../../../reconcile/jobs/failure.ts';

const signal = AbortSignal.timeout(10_000);

interface Cluster {
  readonly members: Readonly<Record<string, Partial<EndpointStatus> | 'dead'>>;
  readonly alarms?: readonly Alarm[];
  /** Endpoints that do not answer a linearizable read. */
  readonly parted?: readonly string[];
}

function status(memberId: string, more: Partial<EndpointStatus>): EndpointStatus {
  return {
    memberId,
    clusterId: 'c1',
    leader: 'a',
    version: '3.6.16',
    isLearner: false,
    raftIndex: 10n,
    raftAppliedIndex: 10n,
    raftTerm: 2n,
    revision: 7n,
    dbSize: 1n,
    dbSizeInUse: 1n,
    errors: [],
    ...more,
  };
}

function etcdOf({ members, alarms = [], parted = [] }: Cluster): AskedEtcd {
  const down = (endpoint: string) => new EtcdError(`status at ${endpoint}: connection refused`, 'down');
  return {
    status: async (endpoint) => {
      const member = members[endpoint];
      if (member === undefined || member === 'dead') throw down(endpoint);
      return status(endpoint, member);
    },
    members: async ([endpoint = '']) => {
      if (parted.includes(endpoint)) throw new EtcdError(`member list at ${endpoint}: no leader`, 'ambiguous');
      return { clusterId: 'c1', members: [] };
    },
    alarms: async () => alarms,
    hashKv: () => assert.fail('not asked here'),
    hasHistory: () => assert.fail('not asked here'),
  };
}

function chosen(cluster: Cluster, clusterId?: string): Promise<Source> {
  return chooseSource(etcdOf(cluster), Object.keys(cluster.members), { signal, ...(clusterId && { clusterId }) });
}

async function refused(cluster: Cluster, clusterId?: string): Promise<FailureReason> {
  const outcome = await chosen(cluster, clusterId).catch((error: unknown) => error);
  assert.ok(outcome instanceof BackupFailure, JSON.stringify(Object(outcome).endpoint));
  return outcome.reason;
}

test('the follower that is furthest sends the snapshot, and the leader only alone', async () => {
  assert.equal(
    (await chosen({ members: { a: { raftAppliedIndex: 99n }, b: {}, c: { raftAppliedIndex: 11n } } })).endpoint,
    'c',
  );
  assert.equal((await chosen({ members: { a: {}, b: 'dead', c: 'dead' } })).endpoint, 'a');
  assert.equal((await chosen({ members: { a: {}, b: 'dead', c: {} } })).endpoint, 'c');
});

test('a learner never sends it, also where it alone answers', async () => {
  assert.equal((await chosen({ members: { a: {}, b: { isLearner: true, raftAppliedIndex: 99n } } })).endpoint, 'a');
  assert.equal(await refused({ members: { a: 'dead', b: { isLearner: true } } }), 'OnlyLearners');
});

test('a member that is cut off from the quorum does not send it', async () => {
  const members = { a: {}, b: {}, c: { raftAppliedIndex: 11n } };
  assert.equal((await chosen({ members, parted: ['c'] })).endpoint, 'b');
  assert.equal(await refused({ members, parted: ['a', 'b', 'c'] }), 'NoQuorum');
});

test('a member that etcd accuses of other data does not send it; if none is accused, none does', async () => {
  const members = { a: {}, b: {}, c: { raftAppliedIndex: 11n } };
  const corrupt = (memberId: string) => [{ memberId, alarm: 'CORRUPT' }] as const;
  assert.equal((await chosen({ members, alarms: corrupt('c') })).endpoint, 'b');
  assert.equal((await chosen({ members, alarms: [{ memberId: 'c', alarm: 'NOSPACE' }] })).endpoint, 'c');
  assert.equal(await refused({ members, alarms: corrupt('0') }), 'Corrupt');
  assert.equal(await refused({ members: { a: {} }, alarms: corrupt('a') }), 'Corrupt');
});

test('endpoints of two clusters, or of another than the one that is meant, are refused', async () => {
  assert.equal(await refused({ members: { a: {}, b: { clusterId: 'c2' } } }), 'AnotherCluster');
  assert.equal(await refused({ members: { a: {} } }, 'c2'), 'AnotherCluster');
  assert.equal((await chosen({ members: { a: {} } }, 'c1')).endpoint, 'a');
});

test('if no endpoint answers, each is named', async () => {
  const outcome = await chosen({ members: { a: 'dead', b: 'dead' } }).catch((error: unknown) => error);
  assert.ok(outcome instanceof BackupFailure && outcome.reason === 'Unreachable');
  assert.match(outcome.message, /status at a: connection refused; status at b: connection refused/);
});
