import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdNodePolicySpec, EtcdNodePolicyStatus } from '../../../manifests/api/etcd-node-policy.ts';
import { decideNodes } from '../../../reconcile/nodes/decide.ts';
import type { NodesDecision } from '../../../reconcile/nodes/decision.ts';
import type { Marks } from '../../../reconcile/nodes/marks.ts';
import type { ClusterSeen, NodeSeen, NodesObservation, PodSeen } from '../../../reconcile/nodes/observation.ts';
import { clusterOf, grantOf, memberOf, memberPod, minutesAgo, nodeOf, podOf, policyOf, seenOf } from './seen.ts';

function begunOn(name: string): Marks {
  const at = minutesAgo(1);
  return { granted: { at, word: `id-${name}` }, cordoned: { at, word: 'by-us' } };
}

function actionOf(decision: NodesDecision): string {
  const { action } = decision;
  return action ? `${action.kind} ${action.node}` : 'none';
}

function reasonsOf({ verdicts }: NodesDecision): Readonly<Record<string, string>> {
  return Object.fromEntries(verdicts.map(({ node, reason }) => [node, reason]));
}

/** One node that needs a reboot, with these pods, beside two that need none. */
function asking(pods: readonly PodSeen[], changes: Partial<NodesObservation> = {}): NodesDecision {
  const nodes = [nodeOf('node-1', { needed: 'kernel', pods }), nodeOf('node-2'), nodeOf('node-3')];
  return decideNodes(seenOf({ nodes, ...changes }));
}

test('the first node by name is granted, and the others wait for room', () => {
  const decision = decideNodes(seenOf());
  assert.equal(actionOf(decision), 'grant node-1');
  assert.ok(decision.action?.kind === 'grant');
  assert.deepEqual(decision.action.grant.clusters, ['default/orders']);
  assert.equal(decision.action.grant.bootID, 'boot-1');
  assert.equal(decision.needed, 3);
});

test('a node without a wish is left alone', () => {
  const decision = decideNodes(seenOf({ nodes: [nodeOf('node-1'), nodeOf('node-2')] }));
  assert.deepEqual([actionOf(decision), decision.verdicts], ['none', []]);
});

test('a node that the policy does not select any more is not counted, and does not begin', () => {
  const left = { needed: 'kernel', pods: [], selected: false };
  const { selected, needed, verdicts } = decideNodes(seenOf({ nodes: [nodeOf('node-1', left), nodeOf('node-2')] }));
  assert.deepEqual([selected, needed, verdicts], [1, 0, []]);
});

test('what ends a way comes first, and a node whose pods a budget kept lets the others go first', () => {
  const draining = (name: string): NodeSeen =>
    nodeOf(name, { needed: 'kernel', unschedulable: true, pods: [podOf(`web-of-${name}`)], marks: begunOn(name) });
  const done = nodeOf('node-3', { marks: { done: { at: minutesAgo(1), word: 'id-node-3' } } });
  const first = (nodes: readonly NodeSeen[], blocked: EtcdNodePolicyStatus['blocked'] = []) => {
    const policy = policyOf(
      {},
      nodes.map(({ name }) => grantOf(name, { clusters: [] })),
    );
    const status = { observedGeneration: 1, ...policy.status, blocked };
    return actionOf(decideNodes(seenOf({ nodes, policy: { ...policy, status } })));
  };
  const both = [draining('node-1'), draining('node-2')];
  assert.equal(first([...both, done]), 'drop node-3');
  assert.equal(first(both), 'evict node-1');
  const told = (reason: string) => [{ node: 'node-1', reason, message: 'x' }];
  assert.equal(first(both, told('EvictionRefused')), 'evict node-2');
  assert.equal(first(both, told('Draining')), 'evict node-1');
});

const objections: readonly (readonly [why: string, reason: string, cluster: ClusterSeen])[] = [
  ['no quorum answers', 'ClusterWithoutQuorum', { ...clusterOf(), clusterId: undefined as never, voters: 0 }],
  [
    'another member is down',
    'MemberDown',
    clusterOf({ members: [memberOf(0), memberOf(1, { serves: false }), memberOf(2)] }),
  ],
  ['etcd lists a voter without a pod', 'MemberDown', clusterOf({ voters: 4 })],
  ['a learner joins', 'ClusterBusy', clusterOf({ learners: 1 })],
  ['its next step would act', 'ClusterBusy', clusterOf({ busy: { kind: 'act', why: 'an upgrade' } })],
  ['it waits for something', 'ClusterBusy', clusterOf({ busy: { kind: 'wait', why: 'a roll' } })],
  ['a person has suspended it', 'ClusterStopped', clusterOf({ stopped: 'is suspended' })],
  ['it has one member', 'QuorumNeedsNode', clusterOf({ members: [memberOf(0)] })],
  ['it has two members', 'QuorumNeedsNode', clusterOf({ members: [memberOf(0), memberOf(1)] })],
  [
    'two of its members are there',
    'TwoMembersThere',
    clusterOf({ members: [memberOf(0), memberOf(1, { node: 'node-1' }), memberOf(2)] }),
  ],
];

for (const [why, reason, cluster] of objections) {
  test(`a node is refused where of a cluster with a member there ${why}`, () => {
    const decision = asking([memberPod('orders-0')], { clusters: [cluster] });
    assert.deepEqual([actionOf(decision), reasonsOf(decision)], ['none', { 'node-1': reason }]);
    assert.match(decision.verdicts[0]?.message ?? '', /default\/orders/);
  });

  test(`a node without a member begins although elsewhere ${why}`, () => {
    const members = cluster.members.filter(({ node }) => node !== 'node-1');
    const decision = asking([podOf('web')], { clusters: [{ ...cluster, members }] });
    assert.equal(actionOf(decision), 'grant node-1');
  });
}

test('a member that was seen on a node by its pod alone keeps the node where another one is down', () => {
  const members = [memberOf(0, { node: 'node-3' }), memberOf(1, { serves: false }), memberOf(2)];
  const decision = asking([memberPod('orders-0')], { clusters: [clusterOf({ members })] });
  assert.deepEqual(reasonsOf(decision), { 'node-1': 'MemberDown' });
});

test('a cluster that could not be looked at keeps its node', () => {
  const decision = asking([memberPod('orders-0')], { clusters: [] });
  assert.deepEqual(reasonsOf(decision), { 'node-1': 'ClusterBusy' });
});

test('a cluster that is named may lose its quorum, but not in the middle of a step', () => {
  const policy = policyOf({ allowDowntimeOf: ['default/orders'] });
  const one = [memberOf(0)];
  const pods = [memberPod('orders-0')];
  assert.equal(actionOf(asking(pods, { policy, clusters: [clusterOf({ members: one })] })), 'grant node-1');
  const busy = clusterOf({ members: one, busy: { kind: 'act', why: 'an upgrade' } });
  assert.deepEqual(reasonsOf(asking(pods, { policy, clusters: [busy] })), { 'node-1': 'ClusterBusy' });
});

const stubborn: readonly (readonly [how: string, cluster: ClusterSeen])[] = [
  ['is suspended', clusterOf({ stopped: 'is suspended' })],
  ['would act again and again', clusterOf({ busy: { kind: 'act', why: 'an upgrade' } })],
  ['waits without an end', clusterOf({ busy: { kind: 'wait', why: 'a roll' } })],
];
const orders = 'default/orders';
const letDown = { allowDowntimeOf: [orders] };

function keptSince(since: string, spec: Partial<EtcdNodePolicySpec>, clusters: readonly ClusterSeen[]): NodesDecision {
  const policy = { ...policyOf(spec), status: { observedGeneration: 1, keeping: [{ cluster: orders, since }] } };
  return asking([memberPod('orders-0')], { policy, clusters });
}

for (const [how, cluster] of stubborn) {
  test(`a named cluster that ${how} keeps a node until spec.clusterTimeout, and not longer`, () => {
    const first = asking([memberPod('orders-0')], { policy: policyOf(letDown), clusters: [cluster] });
    assert.match(first.verdicts[0]?.message ?? '', /It may keep nodes until 2026-11-24T12:00:00Z$/);
    const early = keptSince('2026-11-22T12:00:01Z', letDown, [cluster]);
    assert.equal(actionOf(early), 'none');
    assert.match(early.verdicts[0]?.message ?? '', /It may keep nodes until 2026-11-23T12:00:01Z$/);
    const late = keptSince('2026-11-22T12:00:00Z', letDown, [cluster]);
    assert.equal(actionOf(late), 'grant node-1');
    assert.deepEqual(late.action?.kind === 'grant' && late.action.grant.overruled, [orders]);
    const short = { ...letDown, clusterTimeout: '10m' };
    assert.equal(actionOf(keptSince('2026-11-23T11:50:00Z', short, [cluster])), 'grant node-1');
  });

  test(`a cluster that ${how} and is not named keeps its node for as long as it takes`, () => {
    for (const spec of [{}, { allowDowntimeOf: ['default/others'] }])
      for (const since of ['2026-01-01T00:00:00Z', '2026-11-23T11:00:00Z']) {
        const decision = keptSince(since, spec, [cluster]);
        assert.equal(actionOf(decision), 'none');
        assert.doesNotMatch(decision.verdicts[0]?.message ?? '', /may keep nodes until/);
      }
  });

  test(`the time of a named cluster that ${how} goes on whatever else keeps its nodes`, () => {
    const waiting = [1, 2].map((n) => nodeOf(`node-${n}`, { needed: 'kernel', pods: [memberPod('orders-0')] }));
    const before = [{ cluster: orders, since: '2026-11-23T08:00:00Z' }];
    const keeping = (changes: Partial<NodesObservation>, spec: Partial<EtcdNodePolicySpec> = {}, known = before) => {
      const policy = { ...policyOf({ ...letDown, ...spec }), status: { observedGeneration: 1, keeping: known } };
      return decideNodes(seenOf({ nodes: waiting, policy, clusters: [cluster], ...changes })).keeping ?? [];
    };
    assert.deepEqual(keeping({}), before);
    assert.deepEqual(keeping({}, { suspend: true }), before);
    assert.deepEqual(keeping({}, { windows: [{ start: '0 3 * * *', duration: '1h' }] }), before);
    assert.deepEqual(keeping({ clusters: [] }), before, 'nothing new is known of it');
    assert.deepEqual(keeping({ nodes: [nodeOf('node-1', { needed: 'kernel' })] }), before, 'no node was looked at');
    assert.deepEqual(keeping({}, {}, []), [{ cluster: orders, since: '2026-11-23T12:00:00Z' }]);
    assert.deepEqual(keeping({ clusters: [clusterOf()] }), [], 'it keeps none any more');
    assert.deepEqual(keeping({ nodes: [] }), [], 'no node needs a reboot');
    assert.deepEqual(keeping({}, { allowDowntimeOf: [] }), [], 'it is not named any more');
  });
}

test('each named cluster has a time of its own, and only on nodes with a member of it', () => {
  const others = 'default/others';
  const [long, short] = [
    { cluster: orders, since: '2026-11-22T12:00:00Z' },
    { cluster: others, since: '2026-11-23T08:00:00Z' },
  ];
  const both = [memberPod('orders-0'), memberPod('others-0', { cluster: others })];
  const decided = (pods: readonly PodSeen[], stopped: string | undefined, known: readonly (typeof long)[]) => {
    const status = { observedGeneration: 1, keeping: known };
    const policy = { ...policyOf({ allowDowntimeOf: [orders, others] }), status };
    const clusters = [clusterOf({ stopped: 'is suspended' }), clusterOf({ key: others, ...(stopped && { stopped }) })];
    return asking(pods, { policy, clusters });
  };
  assert.deepEqual(decided(both, 'is suspended', [long, short]).keeping, [long, short]);
  assert.deepEqual(decided([memberPod('orders-0')], 'is suspended', [long]).keeping, [long]);
  const { action } = decided(both, undefined, [long, short]);
  assert.deepEqual(action?.kind === 'grant' && action.grant.overruled, [orders]);
});

test('no time overrules an invocation that acts on a cluster, or one that could not be looked at', () => {
  const since = '2026-01-01T00:00:00Z';
  const held = clusterOf({ stopped: 'is suspended', busy: { kind: 'held', why: 'tick-1 acts on it' } });
  for (const clusters of [[held], []]) {
    const decision = keptSince(since, letDown, clusters);
    assert.deepEqual(reasonsOf(decision), { 'node-1': 'ClusterBusy' });
    assert.doesNotMatch(decision.verdicts[0]?.message ?? '', /may keep nodes until/);
  }
});

test('a cluster of one whose own spec allows the loss of its quorum needs no name', () => {
  const cluster = clusterOf({ members: [memberOf(0)], mayLoseQuorum: true });
  assert.equal(actionOf(asking([memberPod('orders-0')], { clusters: [cluster] })), 'grant node-1');
});

test('a member that ails on the very node does not keep it from its reboot', () => {
  const members = [memberOf(0, { serves: false }), memberOf(1), memberOf(2)];
  const waiting = clusterOf({ members, busy: { kind: 'wait', why: 'orders-0 is starting' } });
  assert.equal(actionOf(asking([memberPod('orders-0')], { clusters: [waiting] })), 'grant node-1');
});

const ofPolicy: readonly (readonly [why: string, reason: string, changes: Partial<NodesObservation>])[] = [
  ['the policy is suspended', 'Suspended', { policy: policyOf({ suspend: true }) }],
  [
    'the policy is being deleted',
    'Suspended',
    { policy: { ...policyOf(), metadata: { name: 'all', deletionTimestamp: '2026-11-23T11:59:00Z' } } },
  ],
  ['no window is open', 'OutsideWindows', { policy: policyOf({ windows: [{ start: '0 22 * * *', duration: '2h' }] }) }],
  [
    'a window can not be read',
    'InvalidWindow',
    { policy: policyOf({ windows: [{ start: '0 22 30 2 *', duration: '2h' }] }) },
  ],
];
for (const [why, reason, changes] of ofPolicy) {
  test(`no node begins while ${why}`, () => {
    const decision = asking([], changes);
    assert.deepEqual([actionOf(decision), reasonsOf(decision)], ['none', { 'node-1': reason }]);
  });
}

const ofNode: readonly (readonly [why: string, reason: string, change: Partial<NodeSeen>])[] = [
  ['it is not Ready', 'NodeNotReady', { ready: false }],
  ['its pods were not looked at', 'NoRoom', { pods: undefined as never }],
  ['it does not say which boot it runs', 'NodeNotReady', { bootId: '' }],
  ['another policy has it', 'OfOtherPolicy', { ofOther: 'first' }],
  ['kured is at it', 'KuredAtWork', { kured: true }],
  ['a pod of spec.blockedBy runs there', 'BlockingPod', { pods: [podOf('batch', { blocks: true })] }],
  ['a pod there would be lost', 'UnmanagedPod', { pods: [podOf('bare', { kind: 'unmanaged' })] }],
  ['it bears marks that are of no grant', 'PolicyGone', { marks: begunOn('node-1') }],
  [
    'a policy that is gone has cordoned it',
    'PolicyGone',
    { unschedulable: true, marks: { putOff: { at: minutesAgo(60), word: 'PolicyGone' } } },
  ],
  ['it was put off a minute ago', 'PutOff', { marks: { putOff: { at: minutesAgo(1), word: 'DrainTimedOut' } } }],
];
for (const [why, reason, change] of ofNode) {
  test(`a node does not begin while ${why}`, () => {
    const decision = decideNodes(seenOf({ nodes: [nodeOf('node-1', { needed: 'kernel', pods: [], ...change })] }));
    assert.deepEqual([actionOf(decision), reasonsOf(decision)], ['none', { 'node-1': reason }]);
  });
}

const outside: readonly (readonly [why: string, reason: string, changes: Partial<NodesObservation>])[] = [
  ['an alert is firing', 'AlertFiring', { alerts: { kind: 'read', names: ['DiskFull'] } }],
  ['alerts can not be read', 'AlertsUnreadable', { alerts: { kind: 'unreadable', why: 'status 503' } }],
  ['kured holds its lock', 'KuredAtWork', { kuredLock: ['node-9'] }],
];
for (const [why, reason, changes] of outside) {
  test(`no node begins while ${why}, and one that has begun goes on`, () => {
    const decision = asking([], changes);
    assert.deepEqual([actionOf(decision), reasonsOf(decision)], ['none', { 'node-1': reason }]);
    assert.match(decision.verdicts[0]?.message ?? '', /DiskFull|status 503|node-9/);
    const begun = asking([], { ...changes, policy: policyOf({}, [grantOf('node-1', { clusters: [] })]) });
    assert.equal(actionOf(begun), 'cordon node-1');
  });
}

test('a node begins where no alert is firing, and no node holds the lock of kured', () => {
  assert.equal(actionOf(asking([], { alerts: { kind: 'read', names: [] }, kuredLock: [] })), 'grant node-1');
});

test('groups go one after the other, each by name, and none begins beside another one', () => {
  const inGroup = (name: string, group: string, change: Partial<NodeSeen> = {}) =>
    nodeOf(name, { group, needed: 'kernel', pods: [], ...change });
  const policy = policyOf({ maxUnavailable: 2, groupLabel: 'zone' });
  const nodes = [inGroup('node-1', 'b'), inGroup('node-2', 'a'), inGroup('node-3', 'a')];
  assert.equal(actionOf(decideNodes(seenOf({ nodes, policy }))), 'grant node-2');
  const begun = policyOf({ maxUnavailable: 2, groupLabel: 'zone' }, [grantOf('node-2', { clusters: [] })]);
  assert.deepEqual(reasonsOf(decideNodes(seenOf({ nodes, policy: begun }))), {
    'node-2': 'Cordoned',
    'node-3': 'Granted',
    'node-1': 'OtherGroup',
  });
  // A node that is not Ready is away as well, also one without a label.
  const lost = [inGroup('node-1', 'b'), nodeOf('node-2', { ready: false })];
  assert.deepEqual(reasonsOf(decideNodes(seenOf({ nodes: lost, policy }))), { 'node-1': 'OtherGroup' });
});

test('a node that was put off by a clock of the future is not put off for as long', () => {
  const putOff = { at: minutesAgo(-60 * 24 * 365), word: 'DrainTimedOut' };
  assert.equal(
    actionOf(asking([], { nodes: [nodeOf('node-1', { needed: 'k', pods: [], marks: { putOff } })] })),
    'grant node-1',
  );
});

test('looks that came to nothing are told, and a node that needs a reboot anyway is not', () => {
  const looked = (word: string) => ({ marks: { looked: { at: minutesAgo(1), word } } });
  const nodes = [
    nodeOf('node-1', looked('old')),
    nodeOf('node-2', looked('failed')),
    nodeOf('node-3', looked('none')),
    nodeOf('node-4', { ...looked('failed'), selected: false }),
    nodeOf('node-5'),
    nodeOf('node-6', { ...looked('failed'), needed: 'kernel', pods: [] }),
  ];
  const told = (policy = policyOf({ sentinel: {} })) => reasonsOf(decideNodes(seenOf({ nodes, policy })));
  assert.deepEqual(told(), { 'node-1': 'SentinelStays', 'node-2': 'LookFailed', 'node-6': 'Granted' });
  assert.deepEqual(told(policyOf()), { 'node-6': 'Granted' });
});

test('a node that was put off begins again in time, and at once where that was called off', () => {
  const putOff = (word: string, minutes: number, unschedulable = false) => {
    const marks = { putOff: { at: minutesAgo(minutes), word } };
    return actionOf(asking([], { nodes: [nodeOf('node-1', { needed: 'k', pods: [], marks, unschedulable })] }));
  };
  assert.deepEqual([putOff('DrainTimedOut', 29), putOff('DrainTimedOut', 31)], ['none', 'grant node-1']);
  assert.deepEqual([putOff('CalledOff', 1), putOff('PolicyGone', 1)], ['grant node-1', 'grant node-1']);
  assert.deepEqual([putOff('PolicyGone', 60, true), putOff('DrainTimedOut', 60, true)], ['none', 'grant node-1']);
});

test('of a percentage only nodes that the policy selects count', () => {
  const nodes = [1, 2, 3].map((index) => nodeOf(`node-${index}`, { needed: 'kernel', pods: [] }));
  const policy = policyOf({ maxUnavailable: '50%' }, [grantOf('node-4', { clusters: [] })]);
  const decision = decideNodes(seenOf({ nodes: [...nodes, nodeOf('node-4', { selected: false })], policy }));
  assert.equal(reasonsOf(decision)['node-1'], 'NoRoom');
});

test('spec.skipDrain lets a node begin with a pod that no controller has: it starts again there', () => {
  const policy = policyOf({ skipDrain: true });
  assert.equal(actionOf(asking([podOf('bare', { kind: 'unmanaged' })], { policy })), 'grant node-1');
  assert.deepEqual(reasonsOf(asking([podOf('batch', { blocks: true })], { policy })), { 'node-1': 'BlockingPod' });
});

test('a node that was put off has its turn after the others', () => {
  const putOff = { at: minutesAgo(60), word: 'DrainTimedOut' };
  const nodes = [
    nodeOf('node-1', { needed: 'a', pods: [], marks: { putOff } }),
    nodeOf('node-2', { needed: 'b', pods: [] }),
  ];
  assert.equal(actionOf(decideNodes(seenOf({ nodes }))), 'grant node-2');
});

test('spec.drain.unmanagedPods Evict lets a node begin with a pod that is lost', () => {
  const policy = policyOf({ drain: { unmanagedPods: 'Evict' } });
  assert.equal(actionOf(asking([podOf('bare', { kind: 'unmanaged' })], { policy })), 'grant node-1');
});

for (const [maxUnavailable, nodes, room] of [
  [1, 3, 1],
  [2, 3, 2],
  ['50%', 5, 2],
  ['1%', 5, 1],
  ['100%', 3, 3],
] as const) {
  test(`of ${nodes} nodes maxUnavailable ${maxUnavailable} lets ${room} be away`, () => {
    const all = Array.from({ length: nodes }, (_, index) => nodeOf(`node-${index}`, { needed: 'kernel', pods: [] }));
    const policy = (away: number) =>
      policyOf(
        { maxUnavailable },
        all.slice(0, away).map(({ name }) => grantOf(name, { clusters: [] })),
      );
    // Those under way are told to cordon first; what counts is whether the next one may begin.
    const begins = (away: number) =>
      decideNodes(seenOf({ nodes: all, policy: policy(away) })).verdicts.some(({ reason }) => reason === 'Granted');
    if (room < nodes) assert.deepEqual([begins(room - 1), begins(room)], [true, false]);
    else assert.ok(begins(room - 1));
  });
}

test('a node that is not Ready takes room, and so does one that another grant has marked', () => {
  const asks = nodeOf('node-1', { needed: 'kernel', pods: [] });
  for (const other of [
    nodeOf('node-2', { ready: false }),
    nodeOf('node-2', { marks: { granted: { at: minutesAgo(1), word: 'lost' } } }),
  ])
    assert.deepEqual(reasonsOf(decideNodes(seenOf({ nodes: [asks, other] }))), { 'node-1': 'NoRoom' });
});

test('a node waits while another one with a member of its cluster is under way', () => {
  const pods = [memberPod('orders-0')];
  const policy = policyOf({ maxUnavailable: 2 });
  const begun = grantOf('node-2');
  const reason = (changes: Partial<NodesObservation>) => reasonsOf(asking(pods, changes))['node-1'];
  assert.equal(reason({ policy: policyOf({ maxUnavailable: 2 }, [begun]) }), 'ClusterBusy');
  assert.equal(reason({ policy, ofOthers: [begun] }), 'ClusterBusy');
  assert.equal(reason({ policy, ofOthers: [{ ...begun, clusters: ['default/carts'] }] }), 'Granted');
  const allowing = policyOf({ maxUnavailable: 2, allowDowntimeOf: ['default/orders'] }, [begun]);
  assert.equal(reason({ policy: allowing }), 'Granted');
});
