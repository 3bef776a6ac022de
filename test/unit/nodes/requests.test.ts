import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { Job, Node, Pod } from '../../../manifests/kube-types.ts';
import { rebootJobName } from '../../../manifests/render/reboot-job.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import type { NodesObserved } from '../../../reconcile/nodes/observe.ts';
import { nodeRequests, runNodeAction } from '../../../reconcile/nodes/requests/all.ts';
import type { NodesHost } from '../../../reconcile/nodes/requests/host.ts';
import { createJob, deleteJob, readJob } from '../../../reconcile/nodes/requests/jobs.ts';
import { evictPod, holdCluster, letGoCluster, moveLeader } from '../../../reconcile/nodes/requests/leaving.ts';
import { readNode, writeNode, writePolicy } from '../../../reconcile/nodes/requests/objects.ts';
import { type Sim, simHost } from '../../../reconcile/nodes/sim-host.ts';
import { play } from '../../../reconcile/requests/play.ts';
import type { Program } from '../../../reconcile/requests/program.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { healthy } from '../cluster/observations.ts';
import { grantOf, nodeOf, policyOf, seenOf } from './seen.ts';

/** Each request by itself: against an API server, and as a plan and a search see it. */

const grant = grantOf('node-1');
const job = { name: 'reboot-x', uid: 'job', state: 'under-way' } as const;
const seen = seenOf({ nodes: [nodeOf('node-1', { job })], policy: policyOf({}, [grant]) });

function played<R>(program: Program<R>, host: Partial<NodesHost<Sim>> = {}) {
  const start: Sim = { seen, away: new Map(), grants: 1 };
  return play(program, nodeRequests, start, { ...simHost, ...host });
}

function live<R>(program: Program<R>, kube: FakeKube, observed: Partial<NodesObserved> = {}): Promise<R> {
  const all = { seen, nodes: new Map(), clusters: new Map(), ways: new Map(), ...observed };
  const about = { observed: all, image: async () => 'ratchet:1', rebootsIn: 'reboots', deadline: Infinity };
  const holder = { pod: 'pod-1', uid: 'u1' };
  return runNodeAction(program, { ...about, kube, holder, signal: new AbortController().signal });
}

const failing = (facts: ConstructorParameters<typeof KubeError>[1]) =>
  createFakeKube({
    before: () => {
      throw new KubeError('it fails', facts);
    },
  });
const keysOf = (kube: FakeKube) => kube.journal().map(({ key }) => key);
const busy = { class: 'retryable', status: 503, reason: 'ServiceUnavailable' } as const;

test('what was written to since it was observed is not written over', () => {
  const writes: readonly Program<unknown>[] = [
    holdCluster({ key: 'default/orders' }),
    writePolicy({ policy: policyOf() }),
    writeNode({ name: 'node-1', change: { cordon: true } }),
  ];
  for (const write of writes)
    assert.partialDeepStrictEqual(played(write, { isCurrent: () => false }), { failure: { reason: 'Conflict' } });
  assert.partialDeepStrictEqual(played(deleteJob({ id: grant.id, uid: 'another' })), {
    failure: { reason: 'Conflict' },
  });
  assert.equal(played(deleteJob({ id: grant.id, uid: 'job' })).state.seen.nodes[0]?.job, undefined);
  assert.equal(played(deleteJob({ id: 'unknown', uid: 'job' })).kind, 'done');
});

test('a node that is gone is not written, and reads as none', async () => {
  const change = { cordon: true };
  for (const end of [played(writeNode({ name: 'node-9', change }))])
    assert.match(end.kind === 'ended' ? end.failure.message : '', /node-9 is gone/);
  await assert.rejects(live(writeNode({ name: 'node-9', change }), createFakeKube()), /node-9 is gone/);
  assert.partialDeepStrictEqual(played(readNode({ name: 'node-9' })), { kind: 'done', result: undefined });
  assert.equal(await live(readNode({ name: 'node-9' }), createFakeKube()), undefined);
  const kube = createFakeKube();
  kube.seed<Node>(resources.nodes, { metadata: { name: 'node-1' }, spec: { unschedulable: true } });
  assert.deepEqual(await live(readNode({ name: 'node-1' }), kube), { marks: {}, unschedulable: true });
});

test('a Job is made once, and one that is on its way out is none', async () => {
  const kube = createFakeKube();
  const make = createJob({ grant, method: { kind: 'DBus' }, deadline: 60 });
  const uid = await live(make, kube);
  assert.equal(await live(createJob({ grant, method: { kind: 'DBus' }, deadline: 60 }), kube), undefined);
  assert.partialDeepStrictEqual(await live(readJob({ id: grant.id }), kube), { uid, state: 'under-way' });
  const [made] = kube.stored<Job>(resources.jobs);
  assert.ok(made);
  kube.seed(resources.jobs, {
    ...made,
    metadata: { ...made.metadata, deletionTimestamp: '2026-11-23T12:00:00Z', finalizers: ['x/y'] },
  });
  assert.equal(await live(readJob({ id: grant.id }), kube), undefined);
  kube.remove(resources.jobs, 'reboots', rebootJobName(grant.id));
  assert.equal(await live(readJob({ id: grant.id }), kube), undefined);
  const refused = live(createJob({ grant, method: { kind: 'DBus' }, deadline: 60 }), failing(busy));
  await assert.rejects(refused, { reason: 'ServiceUnavailable' });
});

test('a pod is evicted, or deleted where its cluster may be down, and only a budget keeps it', async () => {
  const pod = { namespace: 'default', name: 'web', uid: 'u', resourceVersion: '' };
  const leaving = async (byDeletion?: true) => {
    const kube = createFakeKube();
    kube.seed<Pod>(resources.pods, {
      metadata: { namespace: 'default', name: 'web', uid: 'u' },
      spec: { containers: [] },
    });
    const resourceVersion = kube.stored<Pod>(resources.pods)[0]?.metadata.resourceVersion ?? '';
    const kept = await live(evictPod({ pod: { ...pod, resourceVersion, ...(byDeletion && { byDeletion }) } }), kube);
    return [kept, ...keysOf(kube), kube.stored(resources.pods).length];
  };
  assert.deepEqual(await leaving(), [false, 'POST pods/eviction', 0]);
  assert.deepEqual(await leaving(true), [false, 'DELETE pods', 0]);
  const tooMany = { class: 'retryable', status: 429, reason: 'TooManyRequests' } as const;
  assert.equal(await live(evictPod({ pod }), failing({ ...tooMany, causes: ['DisruptionBudget'] })), true);
  await assert.rejects(live(evictPod({ pod }), failing(tooMany)), { status: 429 });
  assert.equal(await live(evictPod({ pod }), failing({ class: 'terminal', status: 404, reason: 'NotFound' })), false);
});

test('a cluster is held until it is let go, and one that was not observed is neither', async () => {
  const kube = createFakeKube();
  kube.seed(resources.clusters, healthy(3).cluster);
  const [cluster] = (await kube.list<EtcdCluster>(resources.clusters, {})).items;
  const stepOf = () => kube.stored<EtcdCluster>(resources.clusters)[0]?.status?.step?.holder.uid;
  const during: (string | undefined)[] = [];
  function* both(): Program {
    yield* holdCluster({ key: 'a' });
    during.push(stepOf());
    yield* letGoCluster({ key: 'a' });
  }
  await live(both(), kube, { clusters: new Map([['a', cluster ?? assert.fail()]]) });
  assert.deepEqual([during, stepOf()], [['u1/nodes'], undefined]);
  const asked = keysOf(kube).length;
  await live(both(), kube);
  const move = { cluster: 'a', clusterId: 'c', from: 'orders-0', name: 'orders-1', memberId: 'm' };
  assert.equal(await live(moveLeader(move), kube), undefined);
  assert.equal(keysOf(kube).length, asked);
});
