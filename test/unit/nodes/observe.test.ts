import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdNodePolicy } from '../../../manifests/api/etcd-node-policy.ts';
import type { Job, Node, Pod } from '../../../manifests/kube-types.ts';
import { annotations, labels } from '../../../manifests/render/names.ts';
import { rebootJobName } from '../../../manifests/render/reboot-job.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { type NodesContext, observeNodes, seenPlainly } from '../../../reconcile/nodes/observe.ts';
import { timestamp } from '../../../reconcile/time/timestamp.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { healthy } from '../cluster/observations.ts';
import { at, grantOf, minutesAgo, policyOf } from './seen.ts';

/** What one step reads, and what it spares itself. */

const mark = (word: string) => `${timestamp(minutesAgo(1))} ${word}`;
const wish = { [annotations.rebootNeeded]: 'kernel' };
const down = { [annotations.rebootGranted]: mark('id-node-1'), [annotations.rebootInProgress]: mark('boot-1') };
const { cluster } = healthy(1);
const key = `${cluster.metadata.namespace}/${cluster.metadata.name}`;

function nodeOf(
  name: string,
  marks: Readonly<Record<string, string>> = wish,
  found: Node['metadata']['labels'] = {},
): Node {
  return {
    metadata: { name, uid: `uid-${name}`, annotations: marks, labels: found },
    status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { bootID: 'boot-1' } },
  };
}

interface Stage {
  readonly policy?: EtcdNodePolicy;
  readonly nodes?: readonly Node[];
  readonly others?: readonly EtcdNodePolicy[];
  readonly pods?: readonly Pod[];
  readonly jobs?: readonly Job[];
  readonly more?: Partial<NodesContext>;
}

async function observed({
  policy = policyOf(),
  nodes = [nodeOf('node-1')],
  others = [],
  pods = [],
  jobs = [],
  more,
}: Stage) {
  const kube = createFakeKube({ clock: () => at });
  kube.seed(resources.clusters, cluster);
  kube.seed(resources.pods, ...pods);
  kube.seed(resources.jobs, ...jobs);
  let alerts = 0;
  const context: NodesContext = {
    kube,
    etcd: async () => assert.fail('its members are not there'),
    wire: async () => assert.fail('its members are not there'),
    holder: { pod: 'pod-1', uid: 'u1' },
    nonce: () => 'n',
    log: () => undefined,
    dryRun: false,
    rebootsIn: 'reboots',
    askAlerts: async () => {
      alerts += 1;
      return '{"status":"success","data":{"alerts":[]}}';
    },
    signal: AbortSignal.timeout(10_000),
    ...more,
  };
  const { seen } = await observeNodes(context, policy, { nodes, policies: [policy, ...others] });
  const asked = kube.journal().map((request) => request.key);
  const looked = seen.nodes.filter((node) => node.pods !== undefined).map(({ name }) => name);
  return { seen, asked, looked, alerts, clusters: seen.clusters.map((one) => one.key) };
}

test('a step reads the pods of nodes that are under way or may begin, and a plan of all', async () => {
  const nodes = [nodeOf('node-1'), nodeOf('node-2'), nodeOf('node-3', {})];
  const looked = async (stage: Stage) => (await observed({ nodes, ...stage })).looked;
  assert.deepEqual(await looked({}), ['node-1', 'node-2']);
  const suspended = policyOf({ suspend: true });
  assert.deepEqual(await looked({ policy: suspended }), []);
  assert.deepEqual(await looked({ policy: suspended, more: { dryRun: true } }), ['node-1', 'node-2']);
  const begun = policyOf({}, [grantOf('node-1', { clusters: [] })]);
  assert.deepEqual(await looked({ policy: begun }), ['node-1'], 'there is no room for another one');
  const ofPool = { nodeSelector: { pool: 'one' } };
  assert.deepEqual(await looked({ policy: { ...begun, spec: ofPool } }), ['node-1'], 'its label is gone');
  const pools = [nodeOf('node-1', wish, { pool: 'two' }), nodeOf('node-2', wish, { pool: 'one' })];
  assert.deepEqual(await looked({ policy: policyOf(ofPool), nodes: pools }), ['node-2']);
});

test('nothing is asked of a node that is down, nor of its clusters', async () => {
  const policy = policyOf({}, [grantOf('node-1', { clusters: [key] })]);
  const { asked, seen } = await observed({ policy, nodes: [nodeOf('node-1', down)] });
  assert.deepEqual([asked, seen.clusters], [['GET jobs'], []]);
  const back = { ...down, [annotations.rebootInProgress]: mark('boot-0') };
  assert.deepEqual((await observed({ policy, nodes: [nodeOf('node-1', back)] })).looked, ['node-1'], 'it has booted');
  for (const lacking of [annotations.rebootGranted, annotations.rebootInProgress]) {
    const { [lacking]: _, ...marks } = down;
    assert.deepEqual((await observed({ policy, nodes: [nodeOf('node-1', marks)] })).looked, ['node-1']);
  }
  const roomy = policyOf({ maxUnavailable: 2 }, [grantOf('node-1', { clusters: [key] })]);
  const beside = await observed({ policy: roomy, nodes: [nodeOf('node-1', { ...down, ...wish }), nodeOf('node-2')] });
  assert.deepEqual([beside.looked, beside.clusters], [['node-2'], []], 'its cluster is of no other node');
});

test('a cluster that has or had a member there is looked at, unless this pass asks it nothing', async () => {
  const found = { [labels.managedBy]: 'etcd-ratchet', [labels.cluster]: cluster.metadata.name };
  const { namespace = '' } = cluster.metadata;
  const pod: Pod = {
    metadata: { namespace, name: 'orders-0-0', uid: 'pod', labels: found },
    spec: { nodeName: 'node-1', containers: [] },
  };
  assert.deepEqual((await observed({})).clusters, []);
  assert.deepEqual((await observed({ pods: [pod] })).clusters, [key]);
  const policy = policyOf({}, [grantOf('node-1', { clusters: [key] })]);
  assert.deepEqual((await observed({ policy })).clusters, [key]);
  const unasked = new Set([key]);
  const silent = await observed({ pods: [pod], more: { unasked } });
  assert.deepEqual([silent.clusters, silent.seen.unasked], [[], unasked]);
});

test('alerts are asked for where a node may begin, and by no plan', async () => {
  const alerts = async ({ spec = {}, grants = 0, marks = wish, dryRun = false }) => {
    const blockedByAlerts = { url: 'http://prometheus' };
    const policy = policyOf({ blockedByAlerts, ...spec }, grants > 0 ? [grantOf('node-1', { clusters: [] })] : []);
    return (await observed({ policy, nodes: [nodeOf('node-1', marks)], more: { dryRun } })).alerts;
  };
  assert.equal(await alerts({}), 1);
  for (const not of [{ marks: {} as typeof wish }, { grants: 1 }, { dryRun: true }, { spec: { suspend: true } }])
    assert.equal(await alerts(not), 0, JSON.stringify(not));
  assert.equal(await alerts({ grants: 1, spec: { maxUnavailable: 2 } }), 0, 'it has begun');
});

test('a Job that is on its way out is none', async () => {
  const jobOf = (metadata: object) =>
    ({
      metadata: { namespace: 'reboots', name: rebootJobName('id-node-1'), uid: 'job', ...metadata },
      spec: {},
    }) as Job;
  const policy = policyOf({}, [grantOf('node-1', { clusters: [] })]);
  const seenWith = async (...jobs: readonly Job[]) => (await observed({ policy, jobs })).seen.nodes[0]?.job?.uid;
  const leaving = jobOf({ deletionTimestamp: timestamp(at), finalizers: ['x/y'] });
  assert.deepEqual(
    [await seenWith(), await seenWith(jobOf({})), await seenWith(leaving)],
    [undefined, 'job', undefined],
  );
});

test('a node has one policy: the one that has begun with it, else the first that selects it', () => {
  const named = (name: string, pool: string, ...grants: Parameters<typeof policyOf>[1] & object) => ({
    ...policyOf({ nodeSelector: { pool } }, grants),
    metadata: { name, uid: name },
  });
  const node = nodeOf('node-1', wish, { pool: 'one' });
  const otherOf = (mine: EtcdNodePolicy, ...others: readonly EtcdNodePolicy[]) =>
    seenPlainly(mine, { policies: [mine, ...others] }, node).ofOther;
  assert.equal(otherOf(named('b', 'one'), named('a', 'one')), 'a');
  assert.equal(otherOf(named('b', 'one'), named('a', 'two')), undefined, 'it is about other nodes');
  assert.equal(otherOf(named('a', 'one'), named('b', 'one')), undefined);
  assert.equal(otherOf(named('a', 'one'), named('b', 'two', grantOf('node-1'))), 'b');
  assert.equal(
    otherOf(named('a', 'one', grantOf('node-1')), named('b', 'one')),
    undefined,
    'its own grant is no other',
  );
});

test('a group is the value of the label that the policy names', () => {
  const groupOf = (groupLabel?: string) => {
    const policy = policyOf({ ...(groupLabel !== undefined && { groupLabel }) });
    return seenPlainly(policy, { policies: [] }, nodeOf('node-1', wish, { zone: 'a' }));
  };
  assert.deepEqual([groupOf('zone').group, 'group' in groupOf('rack'), 'group' in groupOf()], ['a', false, false]);
});
