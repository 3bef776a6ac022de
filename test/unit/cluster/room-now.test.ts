import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdClusterStatus } from '../../../manifests/api/etcd-cluster-status.ts';
import { roomNow } from '../../../reconcile/cluster/observe/room-now.ts';
import type { ClusterObjects } from '../../../reconcile/cluster/observe/snapshot.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { fleet, objectsOf } from './fleet-objects.ts';

const now = new Date('2026-01-01T13:00:00Z');

function stepUntil(deadline: string): Pick<EtcdClusterStatus, 'step'> {
  const holder = { pod: 'etcd-ratchet/other', uid: 'other' };
  return { step: { action: 'change-template', reason: '', holder, startedAt: '2026-01-01T12:59:50Z', deadline } };
}

const underWay = stepUntil('2026-01-01T13:00:10Z');

/** What takes the room of a, which holds its lease, in a fleet of which one may change, as b is by now. */
async function roomOfA(b: ClusterObjects, bNow: EtcdCluster | undefined, leftOut?: string) {
  const large = { bytes: 1, plural: 'etcdclusters', mostBytes: 1 };
  const kube = createFakeKube({
    clock: () => now,
    leftOut: () => new Map(leftOut === undefined ? [] : [[leftOut, large]]),
  });
  const a = objectsOf('a', { behind: 3 });
  kube.seed(resources.clusters, a.cluster, ...(bNow ? [bNow] : []));
  // The API server's clock.
  await kube.list(resources.clusters, {});
  const signal = AbortSignal.timeout(5_000);
  return roomNow({ kube, all: [a, b], fleets: [fleet(1)], at: now, signal })(a.cluster, signal);
}

const unchanged = objectsOf('b');
const wanting = objectsOf('b', { behind: 3 });

test('there is room where no other cluster of the fleet has begun', async () => {
  assert.equal(await roomOfA(unchanged, unchanged.cluster), undefined);
  assert.equal(await roomOfA(wanting, wanting.cluster), undefined);
  assert.equal(await roomOfA(wanting, undefined), undefined);
});

test('the room is taken where a step of one that wants to change is under way by now', async () => {
  const begun = objectsOf('b', { behind: 3, status: underWay });
  assert.deepEqual(await roomOfA(wanting, begun.cluster), ['shop/b']);
});

test('the room is taken where one has begun, and its step is over by now', async () => {
  const message = '';
  const begun = { at: '2026-01-01T12:59:59Z', action: 'change-template', reason: 'RollingConfiguration', message };
  const history = [{ ...begun, outcome: 'acted' as const }];
  const over = objectsOf('b', { behind: 3, status: { history } });
  assert.deepEqual(await roomOfA(wanting, over.cluster), ['shop/b']);
  const half = objectsOf('b', { behind: 3, status: underWay });
  assert.deepEqual(await roomOfA(half, over.cluster), ['shop/b'], 'its step was seen');
});

test('a question ends with the step that asks, however long the look takes', async () => {
  const kube = createFakeKube({ clock: () => now });
  const a = objectsOf('a', { behind: 3 });
  const never = { ...kube, list: () => new Promise<never>(() => undefined) };
  const all = { kube: { ...never, bounded: () => never }, all: [a], fleets: [fleet(1)], at: now };
  const ask = roomNow({ ...all, signal: AbortSignal.timeout(5_000) });
  const step = new AbortController();
  const asked = ask(a.cluster, step.signal);
  step.abort(new Error('its time is over'));
  await assert.rejects(asked, /its time is over/);
});

test('a step takes no room that heals, or that ended without a word', async () => {
  assert.equal(await roomOfA(unchanged, objectsOf('b', { status: underWay }).cluster), undefined);
  const left = objectsOf('b', { behind: 3, status: stepUntil('2026-01-01T12:59:59Z') });
  assert.equal(await roomOfA(wanting, left.cluster), undefined);
});

test('what the look has no memory for keeps the room that it had', async () => {
  const half = objectsOf('b', { behind: 1 });
  assert.deepEqual(await roomOfA(half, half.cluster), ['shop/b']);
  assert.deepEqual(await roomOfA(half, half.cluster, 'shop'), ['shop/b']);
  assert.equal(await roomOfA(half, undefined), undefined, 'it is gone');
});

test('all that ask while one look is under way are answered by one that began after they asked', async () => {
  const kube = createFakeKube({ clock: () => now });
  const all = ['a', 'b', 'c'].map((name) => objectsOf(name, { behind: 3 }));
  kube.seed(resources.clusters, ...all.map(({ cluster }) => cluster));
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const signal = AbortSignal.timeout(5_000);
  let looks = 0;
  const list: typeof kube.list = async (...asked) => {
    await gates[looks++]?.promise;
    return kube.list(...asked);
  };
  const gated = { ...kube, list };
  const ask = roomNow({
    kube: { ...gated, bounded: () => gated },
    all,
    fleets: [fleet(3)],
    at: now,
    signal,
  });
  const [a, b, c] = all.map(({ cluster }) => cluster);
  assert.ok(a && b && c);
  const first = ask(a, signal);
  await new Promise(setImmediate);
  const others = [ask(b, signal), ask(c, signal)];
  await new Promise(setImmediate);
  assert.equal(looks, 1);
  gates[0]?.resolve();
  assert.equal(await first, undefined);
  await new Promise(setImmediate);
  assert.equal(looks, 2);
  gates[1]?.resolve();
  assert.deepEqual(await Promise.all(others), [undefined, undefined]);
  assert.equal(looks, 2);
});
