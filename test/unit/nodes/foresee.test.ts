import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdNodePolicy } from '../../../manifests/api/etcd-node-policy.ts';
import { decideNodes } from '../../../reconcile/nodes/decide.ts';
import { foreseeNodes } from '../../../reconcile/nodes/foresee.ts';
import type { NodeSeen } from '../../../reconcile/nodes/observation.ts';
import { nodePlanLines } from '../../../reconcile/nodes/plan-text.ts';
import { type Sim, simHost } from '../../../reconcile/nodes/sim-host.ts';
import { applied } from '../../../reconcile/nodes/simulate.ts';
import {
  clusterOf,
  cordoned,
  granted,
  grantOf,
  memberOf,
  memberPod,
  minutesAgo,
  nodeOf,
  podOf,
  policyOf,
  seenOf,
} from './seen.ts';

test('a plan has every node that would be rebooted, in order, with what leaves it', () => {
  const nodes = [1, 2, 3].map((index) =>
    nodeOf(`node-${index}`, { needed: 'kernel', pods: [memberPod(`orders-${index - 1}`), podOf(`web-${index}`)] }),
  );
  const { reboots, left } = foreseeNodes(seenOf({ nodes }));
  assert.deepEqual(
    reboots.map(({ node, pods, leaders, members }) => ({ node, pods, leaders, members })),
    [
      { node: 'node-1', pods: 1, leaders: ['default/orders to orders-1'], members: ['default/orders: orders-0-0'] },
      { node: 'node-2', pods: 1, leaders: ['default/orders to orders-0'], members: ['default/orders: orders-1-0'] },
      { node: 'node-3', pods: 1, leaders: [], members: ['default/orders: orders-2-0'] },
    ],
  );
  assert.deepEqual(left, []);
});

test('a plan says which nodes would not begin, and why', () => {
  const single = clusterOf({ key: 'default/single', members: [memberOf(0, { node: 'node-2' })] });
  const nodes = [
    nodeOf('node-1', { needed: 'kernel', pods: [] }),
    nodeOf('node-2', { needed: 'kernel', pods: [memberPod('single-0', { cluster: 'default/single' })] }),
  ];
  const { reboots, left } = foreseeNodes(seenOf({ nodes, clusters: [single] }));
  assert.deepEqual(
    reboots.map(({ node }) => node),
    ['node-1'],
  );
  assert.deepEqual(
    left.map(({ node, reason }) => `${node} ${reason}`),
    ['node-2 QuorumNeedsNode'],
  );
});

test('a plan goes on from a node that is under way, and waits for the window of the next', () => {
  const marks = { granted: { at: minutesAgo(1), word: 'id-node-1' }, cordoned: { at: minutesAgo(1), word: 'by-us' } };
  const nodes = [
    nodeOf('node-1', { needed: 'kernel', pods: [podOf('web')], marks, unschedulable: true }),
    nodeOf('node-2', { needed: 'kernel', pods: [] }),
  ];
  const policy = policyOf({ windows: [{ start: '0 22 * * *', duration: '2h' }] }, [
    grantOf('node-1', { clusters: [] }),
  ]);
  const { reboots } = foreseeNodes(seenOf({ nodes, policy }));
  assert.deepEqual(
    reboots.map(({ node, notBefore }) => `${node} ${notBefore}`),
    ['node-1 undefined', 'node-2 2026-11-23T22:00:00Z'],
  );
});

test('a plan comes to its end also where no window ever opens, or a node is stuck', () => {
  const nodes = [nodeOf('node-1', { needed: 'kernel', pods: [] })];
  assert.deepEqual(
    foreseeNodes(seenOf({ nodes, policy: policyOf({ windows: [] }) })).left[0]?.reason,
    'OutsideWindows',
  );
  const inProgress = { at: minutesAgo(60), word: 'boot-1' };
  const marks = { granted: { at: minutesAgo(61), word: 'id-node-1' }, inProgress };
  const stuck = [nodeOf('node-1', { needed: 'kernel', pods: [], ready: false, marks })];
  const { left } = foreseeNodes(seenOf({ nodes: stuck, policy: policyOf({}, [grantOf('node-1')]) }));
  assert.deepEqual(left[0]?.reason, 'NodeNotBack');
});

test('a plan goes on from a node that is down, with its member that waits for it', () => {
  const marks = {
    granted: { at: minutesAgo(2), word: 'id-node-1' },
    inProgress: { at: minutesAgo(1), word: 'boot-1' },
  };
  const { node: _, ...waiting } = memberOf(0, { serves: false, leads: false });
  const members = [waiting, memberOf(1, { leads: true }), memberOf(2)];
  const nodes = [
    nodeOf('node-1', { needed: 'kernel', ready: false, unschedulable: true, marks }),
    nodeOf('node-2', { needed: 'kernel', pods: [memberPod('orders-1')] }),
    nodeOf('node-3'),
  ];
  const { reboots, left } = foreseeNodes(
    seenOf({ nodes, policy: policyOf({}, [grantOf('node-1')]), clusters: [clusterOf({ members })] }),
  );
  assert.deepEqual(
    [reboots.map(({ node, leaders }) => `${node}: ${leaders}`), left],
    [['node-2: default/orders to orders-0'], []],
    'only the member that waits for its node is there again',
  );
});

test('a plan says for how long a cluster runs with one less, and what it can not foresee', () => {
  const nodes = [
    nodeOf('node-1', { needed: 'kernel', pods: [memberPod('orders-0')] }),
    nodeOf('node-2'),
    nodeOf('node-3'),
  ];
  const lines = (policy: EtcdNodePolicy) => nodePlanLines(foreseeNodes(seenOf({ nodes, policy }))).lines.join('\n');
  const first = policyOf({ reboot: { timeout: '20m' } });
  assert.match(lines(first), /one member less until the node is back \(no reboot was timed yet; after 20 min /);
  const lastDone = { node: 'node-9', at: '2026-11-22T12:00:00Z', oneLessSeconds: 95 };
  const url = 'http://prometheus:9090';
  const later = policyOf({ blockedByAlerts: { url }, kured: {} });
  const text = lines({ ...later, status: { observedGeneration: 1, lastDone } });
  assert.match(text, /one member less for about 95 s, as the last time: default\/orders: orders-0/);
  assert.match(text, /while an alert of spec\.blockedByAlerts is firing\n.*kured's lock/);
  const none = foreseeNodes(seenOf({ nodes: [nodeOf('node-2')], policy: later }));
  assert.deepEqual(nodePlanLines(none).lines, [], 'nothing begins');
});

test('a plan goes through reboots of method External', () => {
  const policy = policyOf({ reboot: { method: 'External' } });
  const nodes = [1, 2].map((index) => nodeOf(`node-${index}`, { needed: 'kernel', pods: [] }));
  const { reboots, left } = foreseeNodes(seenOf({ nodes, policy }));
  assert.deepEqual([reboots.map(({ node }) => node), left], [['node-1', 'node-2'], []]);
});

test('a plan ends where a step can not be carried out, and says of which node', () => {
  const marks = { granted: { at: minutesAgo(1), word: 'id-node-1' }, cordoned: { at: minutesAgo(1), word: 'by-us' } };
  const job = { name: 'reboot-x', uid: 'job', state: 'done' } as const;
  const nodes = [nodeOf('node-1', { needed: 'kernel', pods: [], unschedulable: true, marks, job })];
  const { reboots, left } = foreseeNodes(
    seenOf({ nodes, policy: policyOf({}, [grantOf('node-1', { clusters: [] })]) }),
  );
  assert.deepEqual([reboots, left.map(({ node, reason }) => `${node} ${reason}`)], [[], ['node-1 Rebooting']]);
});

test('a plan tells nodes apart that go at the same time', () => {
  const policy = policyOf({ maxUnavailable: 2 });
  const nodes = [1, 2, 3].map((index) => nodeOf(`node-${index}`, { needed: 'kernel', pods: [podOf(`web-${index}`)] }));
  const { reboots, left } = foreseeNodes(seenOf({ nodes, policy, clusters: [] }));
  assert.deepEqual(
    [reboots.map(({ node, pods }) => `${node} ${pods}`), left],
    [['node-1 1', 'node-2 1', 'node-3 1'], []],
  );
});

test('a plan says what is stuck or does not end by itself, and does not go on as if it did', () => {
  const planned = (node: Partial<NodeSeen>, members = [memberOf(0), memberOf(1), memberOf(2)]) => {
    const begun = nodeOf('node-1', { needed: 'kernel', unschedulable: true, pods: [], ...node });
    const policy = policyOf({}, [grantOf('node-1')]);
    const { left } = foreseeNodes(seenOf({ nodes: [begun], policy, clusters: [clusterOf({ members })] }));
    return left.map(({ reason }) => reason);
  };
  const pods = [podOf('web'), podOf('ending', { leaving: true })];
  assert.deepEqual(planned({ marks: cordoned, pods }), ['Draining'], 'what has left does not come back before');
  const returned = (minutes: number) => ({
    ...{ bootId: 'boot-2', marks: { ...granted, returned: { at: minutesAgo(minutes), word: 'boot-2' } } },
  });
  const { node: _, ...nowhere } = memberOf(0, { serves: false });
  assert.deepEqual(planned(returned(60), [nowhere, memberOf(1), memberOf(2)]), ['MembersNotBack']);
  const down = [memberOf(0, { serves: false }), memberOf(1), memberOf(2)];
  assert.deepEqual(planned(returned(1), down), ['AwaitingMembers'], 'it is there, and does not serve');
});

test('of a node that was down when a plan was made only members of its clusters come back', () => {
  const inProgress = { at: minutesAgo(1), word: 'boot-1' };
  const { node: _, ...nowhere } = memberOf(0, { serves: false, leads: false });
  const carts = clusterOf({ key: 'default/carts', members: [nowhere, memberOf(1), memberOf(2)] });
  const orders = clusterOf({ members: [nowhere, memberOf(1), memberOf(2)] });
  const nodes = [
    nodeOf('node-1', { needed: 'kernel', ready: false, unschedulable: true, marks: { ...granted, inProgress } }),
    nodeOf('node-2', { needed: 'kernel', pods: [memberPod('carts-1', { cluster: 'default/carts' })] }),
  ];
  const policy = policyOf({}, [grantOf('node-1')]);
  const { left } = foreseeNodes(seenOf({ nodes, policy, clusters: [orders, carts] }));
  assert.deepEqual(
    left.map(({ node, reason }) => `${node} ${reason}`),
    ['node-2 MemberDown'],
  );
});

test('each grant of a plan has an ID of its own, and no other step makes one', () => {
  const step = (sim: Sim) => {
    const decision = decideNodes(sim.seen);
    return applied(sim, decision, decision.action ?? assert.fail('nothing to do')) ?? assert.fail('it is refused');
  };
  const start: Sim = { seen: seenOf(), away: new Map(), grants: 0 };
  const begun = step(start);
  assert.notEqual(begun.seen.nonce, start.seen.nonce);
  assert.deepEqual([begun.grants, step(begun).grants], [1, 1]);
  assert.equal(step(begun).seen.nonce, begun.seen.nonce);
  assert.notEqual(step({ ...start, grants: 1 }).seen.nonce, begun.seen.nonce);
});

test('a pod that leaves takes its member along, and one that has left by itself changes no plan', () => {
  const sim: Sim = { seen: seenOf({ clusters: [clusterOf(), clusterOf({ key: 'a/b' })] }), away: new Map(), grants: 0 };
  const pod = {
    namespace: 'default',
    name: 'orders-0-0',
    uid: 'uid-orders-0-0',
    resourceVersion: '7',
    cluster: 'default/orders',
  };
  for (const another of [{ uid: 'another' }, { resourceVersion: '8' }])
    assert.deepEqual(simHost.evicted(sim, { ...pod, ...another }).state, sim);
  const { seen } = simHost.evicted(sim, pod).state;
  const [orders, others] = seen.clusters.map(({ members }) => members.map(({ serves, leads }) => [serves, leads]));
  assert.deepEqual(orders, [
    [false, false],
    [true, false],
    [true, false],
  ]);
  assert.deepEqual(others?.[0], [true, true]);
  assert.deepEqual(seen.nodes[0]?.pods, []);
  const led = simHost.led(sim, { cluster: 'a/b', clusterId: 'c', from: 'orders-0', name: 'orders-1', memberId: '1' });
  assert.deepEqual(
    led.seen.clusters.map(({ members }) => members.find(({ leads }) => leads)?.name),
    ['orders-0', 'orders-1'],
  );
});
