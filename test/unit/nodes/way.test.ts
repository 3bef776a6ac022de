import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdNodePolicySpec } from '../../../manifests/api/etcd-node-policy.ts';
import { decideNodes } from '../../../reconcile/nodes/decide.ts';
import type { Marks } from '../../../reconcile/nodes/marks.ts';
import type { NodesObservation } from '../../../reconcile/nodes/observation.ts';
import {
  at,
  clusterOf,
  cordoned,
  granted,
  memberOf,
  memberPod,
  minutesAgo,
  nodeOf,
  onTheWay,
  podOf,
  policyOf,
  seenOf,
} from './seen.ts';

const ordered = { ...cordoned, now: { at: minutesAgo(1), word: 'job' } } as const;
const gone = { ...cordoned, inProgress: { at: minutesAgo(1), word: 'boot-1' } } as const;
const back = { ...granted, returned: { at: minutesAgo(1), word: 'boot-2' } } as const;

test('a grant whose node bears no mark yet is gone on with: the node is cordoned', () => {
  assert.equal(onTheWay({ unschedulable: false, marks: {} }).kind, 'cordon');
});

test('a mark of another grant is a stranger: the node is cordoned anew', () => {
  const marks: Marks = { ...ordered, granted: { at, word: 'stranger' } };
  assert.equal(onTheWay({ marks }).kind, 'cordon');
});

test('no mark of a way counts before that of its grant, and none from before the grant', () => {
  const strange = { returned: { at, word: 'boot-2' }, inProgress: { at: minutesAgo(1), word: 'boot-1' } };
  assert.equal(onTheWay({ marks: strange, bootId: 'boot-2' }).kind, 'cordon', 'a boot since then is no reboot');
  assert.equal(onTheWay({ marks: { returned: { at, word: 'boot-1' } }, bootId: 'boot-2' }).kind, 'cordon');
  assert.equal(onTheWay({ marks: { inProgress: strange.inProgress } }).kind, 'cordon');
  assert.equal(onTheWay({ marks: granted }).kind, 'cordon', 'since when it is cordoned is not known');
  const putOff = { at, word: 'DrainTimedOut' };
  assert.equal(onTheWay({ marks: { putOff: { ...putOff, at: minutesAgo(5) } } }).kind, 'cordon');
  assert.equal(onTheWay({ marks: { ...cordoned, putOff } }).kind, 'order');
});

test('marks on a node without a grant in the status do nothing', () => {
  const nodes = [nodeOf('node-1', { unschedulable: true, marks: { ...ordered }, pods: [] })];
  const { action, verdicts } = decideNodes(seenOf({ nodes, policy: policyOf() }));
  assert.deepEqual([action, verdicts], [undefined, []]);
});

test('a node that a person uncordoned on its way is cordoned again', () => {
  assert.equal(onTheWay({ marks: cordoned, unschedulable: false }).kind, 'cordon');
});

test('other pods leave before members, and what stays does not count', () => {
  const pods = [memberPod('orders-0'), podOf('web'), podOf('agent', { kind: 'stays' })];
  const { action } = onTheWay({ marks: cordoned, pods });
  assert.ok(action?.kind === 'evict');
  assert.deepEqual(
    action.pods.map(({ name }) => name),
    ['web'],
  );
});

test('a pod that blocks is awaited on the way as well, and not evicted', () => {
  const seen = onTheWay({ marks: cordoned, pods: [podOf('backup', { blocks: true }), podOf('web')] });
  assert.deepEqual([seen.kind, seen.reason], [undefined, 'BlockingPod']);
});

test('of more pods than one step evicts, each has its turn', () => {
  const pods = Array.from({ length: 120 }, (_, index) => podOf(`web-${index}`));
  const tried = new Set<string>();
  for (let seconds = 0; seconds < 120; seconds += 5) {
    const { action } = onTheWay({ marks: cordoned, pods }, { at: new Date(at.getTime() + seconds * 1000) });
    assert.ok(action?.kind === 'evict' && action.pods.length === 50);
    for (const { name } of action.pods) tried.add(name);
  }
  assert.equal(tried.size, 120);
});

test('leadership moves to the member with the most of the log, before its member leaves', () => {
  const members = [memberOf(0), memberOf(1, { log: 90n }), memberOf(2, { log: 95n })];
  const { action } = onTheWay(
    { marks: cordoned, pods: [memberPod('orders-0')] },
    { clusters: [clusterOf({ members })] },
  );
  assert.ok(action?.kind === 'move-leaders');
  assert.deepEqual(
    action.moves.map(({ name }) => name),
    ['orders-2'],
  );
});

test('a member that does not lead is evicted', () => {
  const members = [memberOf(0, { leads: false }), memberOf(1, { leads: true }), memberOf(2)];
  const { action } = onTheWay(
    { marks: cordoned, pods: [memberPod('orders-0')] },
    { clusters: [clusterOf({ members })] },
  );
  assert.ok(action?.kind === 'evict');
  assert.equal(action.pods[0]?.byDeletion, undefined);
});

test('a member stays where another one of its cluster went down since the grant', () => {
  const members = [memberOf(0), memberOf(1, { serves: false }), memberOf(2)];
  const seen = onTheWay({ marks: cordoned, pods: [memberPod('orders-0')] }, { clusters: [clusterOf({ members })] });
  assert.deepEqual([seen.kind, seen.reason], [undefined, 'MemberDown']);
});

test('a pod without a controller that came since the grant is not lost', () => {
  const seen = onTheWay({ marks: cordoned, pods: [podOf('bare', { kind: 'unmanaged' })] });
  assert.deepEqual([seen.kind, seen.reason], [undefined, 'UnmanagedPod']);
});

test('the members of a cluster that may lose its quorum are deleted, not evicted', () => {
  const members = [memberOf(0, { leads: false }), memberOf(1, { leads: true, node: 'node-1' })];
  const pods = [memberPod('orders-0'), memberPod('orders-1')];
  const clusters = [clusterOf({ members })];
  const { action } = onTheWay({ marks: cordoned, pods }, { clusters }, { allowDowntimeOf: ['default/orders'] });
  assert.ok(action?.kind === 'evict');
  assert.ok(action.pods.every(({ byDeletion }) => byDeletion));
});

test('a second member that came to the node since its grant keeps both there, also of five', () => {
  const members = [0, 1, 2, 3, 4].map((index) =>
    memberOf(index, { leads: index === 4, node: index === 1 ? 'node-1' : `node-${index + 1}` }),
  );
  const pods = [memberPod('orders-0'), memberPod('orders-1')];
  const seen = onTheWay({ marks: cordoned, pods }, { clusters: [clusterOf({ members })] });
  assert.deepEqual([seen.kind, seen.reason], [undefined, 'TwoMembersThere']);
  assert.match(seen.message, /orders-0 and orders-1 of EtcdCluster default\/orders are both on node-1/);
});

test('with spec.skipDrain only members leave, and the order comes while other pods are there', () => {
  const spec = { skipDrain: true };
  const others = [podOf('web'), podOf('bare', { kind: 'unmanaged' }), podOf('agent', { kind: 'stays' })];
  const follows = clusterOf({ members: [memberOf(0, { leads: false }), memberOf(1, { leads: true }), memberOf(2)] });
  const first = onTheWay({ marks: cordoned, pods: [memberPod('orders-0'), ...others] }, { clusters: [follows] }, spec);
  assert.ok(first.action?.kind === 'evict');
  assert.deepEqual(
    first.action.pods.map(({ name }) => name),
    ['orders-0-0'],
  );
  const away = { clusters: [clusterOf({ members: left })] };
  assert.equal(onTheWay({ marks: cordoned, pods: others }, away, spec).kind, 'order');
  const job = { name: 'reboot-x', uid: 'job', state: 'under-way' } as const;
  assert.equal(onTheWay({ marks: ordered, job, pods: others }, away, spec).kind, undefined);
  const back = onTheWay(
    { marks: ordered, job, pods: [memberPod('orders-0'), ...others] },
    { clusters: [follows] },
    spec,
  );
  assert.equal(back.reason, 'OrderTakenBack', 'a member that came back is not rebooted with the node');
  const blocked = onTheWay({ marks: cordoned, pods: [podOf('batch', { blocks: true }), ...others] }, away, spec);
  assert.deepEqual([blocked.kind, blocked.reason], [undefined, 'BlockingPod']);
});

const left = [memberOf(0, { serves: false, node: undefined as never }), memberOf(1), memberOf(2)];

test('an empty node is told to reboot, with its one member waiting for it', () => {
  assert.equal(onTheWay({ marks: cordoned }, { clusters: [clusterOf({ members: left })] }).kind, 'order');
});

test('a cluster that is deleted or suspended while its member is away keeps no node waiting', () => {
  const stopped = clusterOf({ members: left, stopped: 'is suspended' });
  for (const clusters of [[], [stopped]]) {
    assert.equal(onTheWay({ marks: cordoned }, { clusters }).kind, 'order');
    const after = { marks: back, bootId: 'boot-2', unschedulable: false, needed: undefined as never };
    assert.equal(onTheWay(after, { clusters }).kind, 'finish');
  }
  // Before its member has left, it stays: a person has stopped that cluster.
  const there = clusterOf({
    members: [memberOf(0, { leads: false }), memberOf(1), memberOf(2)],
    stopped: 'is suspended',
  });
  const seen = onTheWay({ marks: cordoned, pods: [memberPod('orders-0')] }, { clusters: [there] });
  assert.deepEqual([seen.kind, seen.reason], [undefined, 'ClusterStopped']);
});

test('an empty node is not told to reboot while another member is down, also of five', () => {
  const members = [left[0] ?? memberOf(0), memberOf(1, { serves: false }), memberOf(2)];
  for (const mayLoseQuorum of [false, true])
    for (const more of [[], [memberOf(3), memberOf(4)]]) {
      const cluster = clusterOf({ members: [...members, ...more], mayLoseQuorum });
      const seen = onTheWay({ marks: cordoned }, { clusters: [cluster] });
      assert.deepEqual([seen.kind, seen.reason], [undefined, 'MemberDown']);
    }
});

/** Its one member has left: etcd lists no voters to anyone. */
const silent = clusterOf({
  members: [memberOf(0, { serves: false, voter: false, node: undefined as never })],
  clusterId: undefined as never,
});

test('an empty node reboots without a quorum only where the spec of its cluster allows that', () => {
  const seen = onTheWay({ marks: cordoned }, { clusters: [silent] });
  assert.deepEqual([seen.kind, seen.reason], [undefined, 'ClusterWithoutQuorum']);
  assert.equal(onTheWay({ marks: cordoned }, { clusters: [{ ...silent, mayLoseQuorum: true }] }).kind, 'order');
});

test('a node whose pods could not be looked at, or are on their way out, is only looked at again', () => {
  const unseen = onTheWay({ marks: cordoned, pods: undefined as never });
  assert.deepEqual([unseen.kind, unseen.reason], [undefined, 'Draining']);
  const ending = onTheWay({ marks: cordoned, pods: [podOf('web', { leaving: true })] });
  assert.deepEqual([ending.kind, ending.reason], [undefined, 'Draining']);
});

for (const kind of ['held', 'act', 'wait'] as const)
  test(`a member stays while its cluster is in the middle of a step since the grant: ${kind}`, () => {
    const clusters = [clusterOf({ busy: { kind, why: 'removes orders-2' } })];
    for (const allowDowntimeOf of [[], ['default/orders']]) {
      const node = { marks: cordoned, pods: [memberPod('orders-0')] };
      const seen = onTheWay(node, { clusters }, { allowDowntimeOf });
      assert.deepEqual([seen.kind, seen.reason], [undefined, 'ClusterBusy']);
    }
  });

test('a member leaves whose cluster was overruled by its time, but never in the middle of a step', () => {
  const spec = { allowDowntimeOf: ['default/orders'] };
  const node = { marks: cordoned, pods: [memberPod('orders-0')] };
  const leaves = (changes: Partial<NodesObservation>, said: Partial<EtcdNodePolicySpec> = spec) =>
    onTheWay(node, changes, said, { overruled: ['default/orders'] }).kind;
  const members = [memberOf(0, { leads: false }), memberOf(1), memberOf(2)];
  const cluster = clusterOf({ members, stopped: 'is suspended' });
  assert.equal(leaves({ clusters: [{ ...cluster, busy: { kind: 'act', why: 'a roll' } }] }), 'evict');
  assert.equal(leaves({ clusters: [{ ...cluster, busy: { kind: 'wait', why: 'a roll' } }] }), 'evict');
  assert.equal(leaves({ clusters: [], unasked: new Set(['default/orders']) }), undefined);
  const acting = { ...cluster, stopped: undefined as never, busy: { kind: 'act', why: 'a roll' } as const };
  assert.equal(leaves({ clusters: [acting] }), 'evict');
  assert.equal(leaves({ clusters: [acting] }, {}), undefined, 'no person lets it be down any more');
  assert.equal(leaves({ clusters: [{ ...cluster, busy: { kind: 'held', why: 'a tick' } }] }), undefined);
});

test('an empty node is not told to reboot while a step of its cluster is under way', () => {
  const orderOf = (kind: 'held' | 'act' | 'wait') =>
    onTheWay({ marks: cordoned }, { clusters: [clusterOf({ members: left, busy: { kind, why: 'a step' } })] });
  assert.deepEqual([orderOf('held').kind, orderOf('held').reason], [undefined, 'ClusterBusy']);
  // What it would do about the member that is away does not keep the node.
  assert.deepEqual([orderOf('act').kind, orderOf('wait').kind], ['order', 'order']);
});

test('a node that can not be drained in time is put off', () => {
  const marks = { ...cordoned, cordoned: { at: minutesAgo(31), word: 'by-us' } };
  const seen = onTheWay({ marks, pods: [podOf('web')] });
  assert.deepEqual([seen.kind, seen.reason], ['put-off', 'DrainTimedOut']);
});

test('a wish that is taken away before the reboot calls it off', () => {
  for (const marks of [cordoned, ordered]) {
    const seen = onTheWay({ marks, needed: undefined as never });
    assert.deepEqual([seen.kind, seen.reason], ['put-off', 'CalledOff']);
  }
});

test('an empty node whose order is refused each time gets its pods back', () => {
  const { reason, kind } = onTheWay({ marks: { ...cordoned, cordoned: { at: minutesAgo(31), word: 'by-us' } } });
  assert.deepEqual([kind, reason], ['order', 'Rebooting']);
  const late = onTheWay({ marks: { ...cordoned, cordoned: { at: minutesAgo(600), word: 'by-us' } } });
  assert.deepEqual([late.kind, late.reason], ['put-off', 'RebootNotBegun']);
});

test('no member leaves its node while its cluster is asked nothing', () => {
  const pods = [memberPod('orders-0')];
  const seen = onTheWay({ marks: cordoned, pods }, { clusters: [], unasked: new Set([clusterOf({}).key]) });
  assert.deepEqual([seen.kind, seen.reason], [undefined, 'ClusterBusy']);
});

test('an order waits for its Job, and is taken back where that failed or did not come', () => {
  const job = { name: 'reboot-x', uid: 'job', state: 'under-way' } as const;
  assert.equal(onTheWay({ marks: ordered, job }).kind, undefined);
  assert.equal(onTheWay({ marks: ordered, job: { ...job, state: 'failed' } }).kind, 'put-off');
  const late = { ...ordered, now: { at: minutesAgo(16), word: 'job' } };
  assert.deepEqual(onTheWay({ marks: late, job }).reason, 'RebootNotBegun');
});

test('an order is taken back where a pod came to the node, or another member went down', () => {
  const job = { name: 'reboot-x', uid: 'job', state: 'under-way' } as const;
  const down = [left[0] ?? memberOf(0), memberOf(1, { serves: false }), memberOf(2)];
  const cases = [
    onTheWay({ marks: ordered, job, pods: [memberPod('orders-0')] }),
    onTheWay({ marks: ordered, job, pods: [podOf('web')] }),
    onTheWay({ marks: ordered, job }, { clusters: [clusterOf({ members: down })] }),
    onTheWay({ marks: ordered, job }, { clusters: [clusterOf({ busy: { kind: 'held', why: 'a step' } })] }),
    onTheWay({ marks: ordered, job }, { clusters: [], unasked: new Set([clusterOf({}).key]) }),
  ];
  for (const { kind, reason } of cases) assert.deepEqual([kind, reason], ['cordon', 'OrderTakenBack']);
  assert.equal(onTheWay({ marks: ordered, job, pods: [podOf('agent', { kind: 'stays' })] }).kind, undefined);
});

test('an order that a stranger wrote, or whose Job is gone, is given anew', () => {
  const job = { name: 'reboot-x', uid: 'another', state: 'under-way' } as const;
  assert.equal(onTheWay({ marks: ordered, job }).kind, 'order');
  assert.equal(onTheWay({ marks: ordered }).kind, 'order');
});

test('of method External an annotation is no order unless the status says that it was given', () => {
  const marks = { ...cordoned, now: { at: minutesAgo(1), word: 'id-node-1' } };
  const spec = { reboot: { method: 'External' } } as const;
  assert.equal(onTheWay({ marks, pods: [podOf('web')] }, {}, spec).kind, 'evict');
  const given = onTheWay({ marks }, {}, spec, { ordered: '2026-11-23T11:59:30Z' });
  assert.deepEqual([given.kind, given.reason], [undefined, 'Rebooting']);
});

test('of method External only the order that was given counts, and no Job of another method', () => {
  const spec = { reboot: { method: 'External' } } as const;
  const given = { ordered: '2026-11-23T11:59:30Z' };
  const withNow = (word: string) => ({ ...cordoned, now: { at: minutesAgo(1), word } });
  assert.equal(onTheWay({ marks: withNow('stranger') }, {}, spec, given).kind, 'order');
  const job = { name: 'reboot-x', uid: 'job', state: 'failed' } as const;
  const waiting = onTheWay({ marks: withNow('id-node-1'), job }, {}, spec, given);
  assert.deepEqual([waiting.kind, waiting.reason], [undefined, 'Rebooting']);
  assert.equal(onTheWay({ marks: cordoned }, {}, {}, given).kind, 'order', 'the method is another one by now');
});

test('of method External an order that was taken away is awaited, and not given again', () => {
  const spec = { reboot: { method: 'External' } } as const;
  const ordered = '2026-11-23T11:59:30Z';
  const taken = onTheWay({ marks: cordoned }, {}, spec, { ordered });
  assert.deepEqual([taken.kind, taken.reason], [undefined, 'Rebooting']);
  const late = onTheWay({ marks: cordoned }, {}, spec, { ordered: '2026-11-23T11:00:00Z' });
  assert.deepEqual([late.kind, late.reason], [undefined, 'RebootNotComing']);
  // Without the record it was not given: a step died in between.
  assert.equal(onTheWay({ marks: cordoned }, {}, spec).kind, 'order');
});

test('a node that is lost while its pods end is stuck, and one that is Ready is put off', () => {
  const marks = { ...cordoned, cordoned: { at: minutesAgo(31), word: 'by-us' } };
  const members = [memberOf(0, { serves: false }), memberOf(1), memberOf(2)];
  const pods = [memberPod('orders-0', { leaving: true })];
  const clusters = [clusterOf({ members })];
  const lost = onTheWay({ marks, pods, ready: false }, { clusters });
  assert.deepEqual([lost.kind, lost.reason], [undefined, 'NodeNotBack']);
  const slow = onTheWay({ marks, pods }, { clusters });
  assert.deepEqual([slow.kind, slow.reason], ['put-off', 'DrainTimedOut']);
});

test('a cluster that is stopped, or may be down, does not keep a node from being done', () => {
  const after = { marks: back, bootId: 'boot-2', unschedulable: false, needed: undefined as never };
  const stopped = clusterOf({ members: left, stopped: 'is suspended' });
  assert.equal(onTheWay(after, { clusters: [stopped] }).kind, 'finish');
  const spec = { allowDowntimeOf: ['default/orders'] };
  assert.equal(onTheWay(after, { clusters: [clusterOf({ members: left })] }, spec).kind, 'finish');
});

test('a host that refused the reboot is put off in time, and takes pods again', () => {
  const marks = { ...gone, inProgress: { at: minutesAgo(16), word: 'boot-1' } };
  const job = { name: 'reboot-x', uid: 'job', state: 'failed' } as const;
  const late = onTheWay({ marks, job });
  assert.deepEqual([late.kind, late.reason], ['put-off', 'RebootNotBegun']);
  assert.equal(onTheWay({ marks: gone, job }).kind, undefined);
  assert.equal(onTheWay({ marks, job: { ...job, state: 'done' } }).reason, 'RebootNotComing');
});

test('a stranger that claims a reboot or a return does not end the way', () => {
  const claimed = { ...cordoned, inProgress: { at: minutesAgo(60), word: 'any' }, returned: { at, word: 'boot-1' } };
  assert.equal(onTheWay({ marks: claimed }).kind, 'order');
});

test('a node that went down is awaited, and holds the line when it does not come back', () => {
  const awaited = onTheWay({ marks: gone, ready: false });
  assert.deepEqual([awaited.reason, awaited.afterSeconds], ['Rebooting', 5]);
  const late = { ...gone, inProgress: { at: minutesAgo(16), word: 'boot-1' } };
  const seen = onTheWay({ marks: late, ready: false }, {}, { maxUnavailable: 2 });
  assert.deepEqual([seen.kind, seen.reason, seen.afterSeconds], [undefined, 'NodeNotBack', undefined]);
});

test('a reboot that does not come holds the line, until its wish is taken away', () => {
  const marks = { ...gone, inProgress: { at: minutesAgo(16), word: 'boot-1' } };
  const seen = onTheWay({ marks }, {}, { maxUnavailable: 2 });
  assert.deepEqual([seen.kind, seen.reason], [undefined, 'RebootNotComing']);
  assert.equal(onTheWay({ marks, needed: undefined as never }).kind, 'put-off');
});

test('a node with another boot takes pods again as soon as it is Ready, however it came about', () => {
  for (const marks of [cordoned, ordered, gone]) {
    assert.equal(onTheWay({ marks, bootId: 'boot-2', ready: false }).kind, undefined);
    assert.equal(onTheWay({ marks, bootId: 'boot-2' }).kind, 'welcome');
  }
});

test('a node that does not get Ready after its next boot holds the line, but not at once', () => {
  const reasonOf = (minutes: number) => {
    const inProgress = { at: minutesAgo(minutes), word: 'boot-1' };
    return onTheWay({ marks: { ...gone, inProgress }, bootId: 'boot-2', ready: false }).reason;
  };
  assert.deepEqual([reasonOf(1), reasonOf(16)], ['Rebooting', 'NodeNotBack']);
});

test('a node that does not say which boot it runs is not taken for one that is back', () => {
  assert.equal(onTheWay({ marks: gone, bootId: '' }).kind, undefined);
});

test('a node is done when every cluster that had a member there is whole', () => {
  const after = { marks: back, bootId: 'boot-2', unschedulable: false, needed: undefined as never };
  for (const cluster of [clusterOf({ members: left }), silent])
    assert.equal(onTheWay(after, { clusters: [cluster] }).reason, 'AwaitingMembers');
  assert.equal(onTheWay(after).kind, 'finish');
  const lasting = { ...after, marks: { ...back, returned: { at: minutesAgo(16), word: 'boot-2' } } };
  assert.equal(onTheWay(lasting, { clusters: [clusterOf({ members: left })] }).reason, 'MembersNotBack');
});

test('a grant is dropped where its node is done, gone or another one of that name', () => {
  const done = { done: { at, word: 'id-node-1' } };
  const seen = onTheWay({ marks: done });
  assert.ok(seen.action?.kind === 'drop' && seen.action.completed);
  assert.equal(onTheWay({ uid: 'another' }).reason, 'NodeGone');
  assert.equal(onTheWay({ marks: { putOff: { at, word: 'DrainTimedOut' } } }).kind, 'drop');
});
