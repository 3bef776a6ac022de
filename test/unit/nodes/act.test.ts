import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdNodePolicy } from '../../../manifests/api/etcd-node-policy.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { actOnNode } from '../../../reconcile/nodes/act.ts';
import { cordoned, isOurs } from '../../../reconcile/nodes/change-node.ts';
import type { NodeAction } from '../../../reconcile/nodes/decision.ts';
import { giveBack, take } from '../../../reconcile/nodes/hold.ts';
import type { JobSeen, NodeSeen, NodesObservation } from '../../../reconcile/nodes/observation.ts';
import { nodeRequests, runNodeAction } from '../../../reconcile/nodes/requests/all.ts';
import type { NodesHost } from '../../../reconcile/nodes/requests/host.ts';
import { evictPod } from '../../../reconcile/nodes/requests/leaving.ts';
import { type Sim, simHost } from '../../../reconcile/nodes/sim-host.ts';
import { play } from '../../../reconcile/requests/play.ts';
import type { Request } from '../../../reconcile/requests/program.ts';
import { conflict } from '../../../reconcile/requests/refusals.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { healthy } from '../cluster/observations.ts';
import { clusterOf, grantOf, minutesAgo, nodeOf, policyOf, seenOf } from './seen.ts';

/** Each guard of an action by itself. */

const holding = { holder: { pod: 'pod-1', uid: 'u1' }, signal: new AbortController().signal };
const grant = grantOf('node-1');
const order = { kind: 'order', node: 'node-1', grant } as const;
const begun = {
  needed: 'kernel',
  unschedulable: true,
  marks: {
    granted: { at: minutesAgo(1), word: grant.id },
    cordoned: { at: minutesAgo(1), word: 'by-us' },
  },
} as const;

function seenWith(node: Partial<NodeSeen> = {}, policy = policyOf({}, [grant])): NodesObservation {
  return seenOf({ nodes: [nodeOf('node-1', { ...begun, pods: [], ...node })], policy });
}

/** @param now what is there by then */
function asked(action: NodeAction, seen = seenWith(), now = seen) {
  const requests: Request[] = [];
  const onAnswered = (request: Request) => requests.push(request);
  const start: Sim = { seen: now, away: new Map(), grants: 1 };
  const played = play(actOnNode(action, seen), nodeRequests, start, simHost, { onAnswered });
  return { played, requests, kinds: requests.map(({ kind }) => kind) };
}

test('an order names the Job that was just made, and asks for it no more', () => {
  const { kinds, played } = asked(order);
  assert.deepEqual(kinds, ['createJob', 'writeNode']);
  assert.equal(played.state.seen.nodes[0]?.marks.now?.word, `job-${grant.id}`);
});

test('an order names the Job that another step has made, and makes way for one that has ended', () => {
  const job = { name: 'reboot-x', uid: 'earlier', state: 'under-way' } as const satisfies JobSeen;
  const { played } = asked(order, seenWith({ job }));
  assert.equal(played.state.seen.nodes[0]?.marks.now?.word, 'earlier');
  const ended = asked(order, seenWith({ job: { ...job, state: 'done' } }));
  assert.deepEqual([ended.played.kind, ended.kinds], ['ended', ['createJob', 'readJob', 'deleteJob']]);
});

test('a Job runs the command of its policy', () => {
  const method = { kind: 'Command', command: ['/sbin/kexec', '-e'] };
  const policy = policyOf({ reboot: { method: 'Command', command: method.command } }, [grant]);
  assert.partialDeepStrictEqual(asked(order, seenWith({}, policy)).requests[0]?.ask, { method });
});

test('a cordon writes the policy only where it takes an order back', () => {
  const cordon = { kind: 'cordon', node: 'node-1', id: grant.id } as const;
  assert.deepEqual(asked(cordon).kinds, ['writeNode']);
  const ordered = policyOf({}, [{ ...grant, ordered: '2026-11-23T11:59:30Z' }]);
  assert.deepEqual(asked(cordon, seenWith({}, ordered)).kinds, ['writePolicy', 'writeNode']);
});

test('an order that is taken back leaves the grants of other nodes as they are', () => {
  const cordon = { kind: 'cordon', node: 'node-1', id: grant.id } as const;
  const other = grantOf('node-2', { ordered: '2026-11-23T11:59:40Z' });
  const both = policyOf({}, [{ ...grant, ordered: '2026-11-23T11:59:30Z' }, other]);
  const [write] = asked(cordon, seenWith({}, both)).requests;
  const { policy } = (write ?? assert.fail()).ask as { readonly policy: EtcdNodePolicy };
  assert.deepEqual(policy.status?.grants, [grant, other]);
  const { kinds } = asked(cordon, seenWith({}, policyOf({}, [other])));
  assert.deepEqual(kinds, ['writeNode'], 'one that has no grant by then has no order');
});

test('a Job reboots as its policy says', () => {
  for (const method of ['DBus', 'Signal'] as const) {
    const [made] = asked(order, seenWith({}, policyOf({ reboot: { method } }, [grant]))).requests;
    assert.partialDeepStrictEqual(made?.ask, { method: { kind: method } });
  }
});

test('what this way cordoned is uncordoned by it alone', () => {
  const marks = (granted: string, cordoned: string) => ({
    granted: { at: minutesAgo(1), word: granted },
    cordoned: { at: minutesAgo(1), word: cordoned },
  });
  const ours = (granted: string, word: string) => isOurs(nodeOf('node-1', { marks: marks(granted, word) }), grant.id);
  assert.deepEqual(
    [ours(grant.id, 'by-us'), ours('stranger', 'by-us'), ours(grant.id, 'before')],
    [true, false, false],
  );
  const { granted } = marks(grant.id, 'by-us');
  const first = (unschedulable: boolean) => cordoned(nodeOf('node-1', { marks: { granted }, unschedulable }), grant.id);
  assert.deepEqual([first(true).cordoned, first(false).cordoned], ['before', 'by-us']);
});

test('a cordon of a stranger, or of another reboot, is not taken for our own', () => {
  const change = (word: string) =>
    cordoned(nodeOf('node-1', { ...begun, marks: { ...begun.marks, granted: { at: minutesAgo(1), word } } }), grant.id);
  assert.equal(change('stranger').cordoned, 'before');
  assert.ok(!('cordoned' in change(grant.id)));
});

test('no pod is evicted from a node that was uncordoned, given up or needs no reboot by then', () => {
  const pod = { namespace: 'default', name: 'orders-0-0', uid: 'u', resourceVersion: '7', cluster: 'default/orders' };
  const evict = { kind: 'evict', node: 'node-1', id: grant.id, pods: [pod] } as const;
  const all = { ...seenWith(), clusters: [clusterOf(), clusterOf({ key: 'default/carts' })] };
  assert.deepEqual(asked(evict, all).kinds, ['readNode', 'holdCluster', 'evictPod', 'letGoCluster']);
  for (const changed of [{ unschedulable: false }, { marks: {} }, { needed: undefined as never }])
    assert.deepEqual(asked(evict, all, seenWith(changed)).kinds, ['readNode']);
});

test('a pod that is another one by now stays, and a defect is told as one', async () => {
  const pod = { namespace: 'default', name: 'web', uid: 'u', resourceVersion: '7' };
  const seen = { seen: seenWith(), nodes: new Map(), clusters: new Map(), ways: new Map() };
  const evicting = (kube: FakeKube) => {
    const context = { kube, observed: seen, image: async () => 'ratchet:1', rebootsIn: 'reboots', deadline: Infinity };
    return runNodeAction(evictPod({ pod }), { ...context, ...holding });
  };
  const kube = createFakeKube();
  assert.equal(await evicting(kube), false, 'it is gone');
  kube.seed(resources.pods, { metadata: { namespace: 'default', name: 'web', uid: 'another' } });
  assert.equal(await evicting(kube), false);
  assert.equal(kube.stored(resources.pods).length, 1);
  const broken = createFakeKube({ before: () => assert.fail('a defect') });
  await assert.rejects(evicting(broken), /a defect/);
});

async function leased(kube: FakeKube) {
  kube.seed(resources.clusters, healthy(3).cluster);
  const [cluster] = (await kube.list<EtcdCluster>(resources.clusters, {})).items;
  return take(cluster ?? assert.fail(), { kube, ...holding });
}

test('a lease goes back where its cluster was changed, and not where another step holds it', async () => {
  for (const uid of ['u1/nodes', 'u2']) {
    const kube = createFakeKube();
    const held = await leased(kube);
    const step = { ...(held.status?.step ?? assert.fail()), holder: { pod: 'pod', uid } };
    const status = { observedGeneration: 1, ...held.status, step };
    kube.seed(resources.clusters, { ...held, metadata: { ...held.metadata, labels: { team: 'a' } }, status });
    await giveBack(held, { kube, ...holding });
    const [after] = kube.stored<EtcdCluster>(resources.clusters);
    assert.equal(after?.status?.step?.holder.uid, uid === 'u2' ? 'u2' : undefined);
    assert.deepEqual(after?.metadata.labels, { team: 'a' });
  }
});

test('a lease that can not be given back is left to its deadline', async () => {
  let fails = false;
  const before = () => {
    if (fails) throw new KubeError('503', { class: 'retryable', status: 503, reason: 'ServiceUnavailable' });
  };
  const kube = createFakeKube({ before });
  const held = await leased(kube);
  fails = true;
  const asked = kube.journal().length;
  await giveBack(held, { kube, ...holding });
  assert.equal(kube.journal().length, asked + 1);
  const broken = createFakeKube({ before: () => assert.fail('a defect') });
  await assert.rejects(giveBack(held, { kube: broken, ...holding }), /a defect/);
});

test('an eviction that fails is told when the others have ended, and their clusters are let go', () => {
  const pods = ['web', 'orders-0-0'].map((name) => ({
    ...{ namespace: 'default', name, uid: name, resourceVersion: '7' },
    ...(name !== 'web' && { cluster: 'default/orders' }),
  }));
  const evicted: NodesHost<Sim>['evicted'] = (sim, pod) => {
    if (pod.name === 'web') throw conflict('it may not be evicted');
    return simHost.evicted(sim, pod);
  };
  const start: Sim = { seen: { ...seenWith(), clusters: [clusterOf()] }, away: new Map(), grants: 1 };
  const program = actOnNode({ kind: 'evict', node: 'node-1', id: grant.id, pods }, start.seen);
  const requests: string[] = [];
  const onAnswered = ({ kind }: Request) => requests.push(kind);
  const played = play(program, nodeRequests, start, { ...simHost, evicted }, { onAnswered });
  assert.match(played.kind === 'ended' ? played.failure.message : '', /may not be evicted/);
  assert.deepEqual(requests, ['readNode', 'holdCluster', 'evictPod', 'letGoCluster']);
});

test('a way that ends takes its Job along, where there is one', () => {
  const { id } = grant;
  const job = { name: 'reboot-x', uid: 'earlier', state: 'under-way' } as const satisfies JobSeen;
  for (const end of [
    { kind: 'finish', node: 'node-1', id },
    { kind: 'put-off', node: 'node-1', id, reason: 'DrainTimedOut' },
    { kind: 'drop', node: 'node-1', id },
  ] as const) {
    const { played, kinds } = asked(end, seenWith({ job }));
    assert.equal(kinds.at(-1), 'deleteJob', end.kind);
    assert.equal(played.state.seen.nodes[0]?.job, undefined);
    assert.equal(asked(end).kinds.at(-1), 'readJob', end.kind);
  }
});
