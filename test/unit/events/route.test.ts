import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { CloudEvent, HTTP } from 'cloudevents';
import type { Hono } from 'hono';
import { isWorthGoingOn } from '../../../functions/serve/events/step.ts';
import { events, tasksOf } from '../../../functions/serve/events.ts';
import { composed } from '../../../functions/serve/serve.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { labels } from '../../../manifests/render/names.ts';
import { wait } from '../../../reconcile/cluster/know/decision.ts';
import type { ClusterResult } from '../../../reconcile/cluster/result.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { eventOf } from '../../support/events/broker.ts';
import type { FakeKube, FakeKubeOptions } from '../../support/fakes/kube.ts';
import { cronJob, env, installation } from '../serve/installation.ts';

const stop = new AbortController().signal;
const now = new Date('2026-05-01T10:00:00Z');

interface Scene {
  readonly kube: FakeKube;
  readonly app: Hono;
  readonly logged: object[];
}

async function open(options: FakeKubeOptions = {}, more: NodeJS.ProcessEnv = {}): Promise<Scene> {
  const kube = installation(options);
  kube.seed(resources.clusters, suspended('orders'), suspended('ads'));
  const logged: object[] = [];
  const log = (fields: object, message: string) => void logged.push({ ...fields, message });
  const group = await events({ kube, log, env: { ...env, ...more }, version: '0', stop });
  return { kube, app: composed([group], stop), logged };
}

/** The simplest step: it looks, reports, and has nothing to do. */
function suspended(name: string): EtcdCluster {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name, namespace: 'payments', uid: `uid-${name}`, generation: 1 },
    spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' }, suspend: true },
  } as EtcdCluster;
}

async function send({ app }: Scene, event: CloudEvent<unknown>): Promise<Response> {
  const { headers, body } = HTTP.binary(event);
  return app.request('/events', { method: 'POST', headers: headers as Record<string, string>, body: String(body) });
}

function changed(scene: Scene, name: string, verb: 'add' | 'update' = 'update'): CloudEvent<unknown> {
  const cluster = scene.kube.stored<EtcdCluster>(resources.clusters).find(({ metadata }) => metadata.name === name);
  assert.ok(cluster);
  return eventOf(resources.clusters, cluster, verb);
}

const ping = () => new CloudEvent({ type: 'dev.knative.sources.ping', source: '/p' });
const stepped = ({ logged }: Scene) =>
  logged.flatMap((line) => ('decision' in line && 'cluster' in line ? [String(line.cluster)] : []));

let scene: Scene;
beforeEach(async () => {
  scene = await open();
});

test('a cluster that changed is stepped, alone, before the answer; the answer is 204 and empty', async () => {
  const response = await send(scene, changed(scene, 'orders'));
  assert.deepEqual([response.status, await response.text()], [204, '']);
  assert.deepEqual(stepped(scene), ['payments/orders']);
  const written = await scene.kube.get<EtcdCluster>(resources.clusters, 'payments', 'orders');
  assert.ok(written?.status?.lastDecision);
});

test('a clock steps all, and asks Git', async () => {
  assert.equal((await send(scene, ping())).status, 204);
  assert.deepEqual(stepped(scene).toSorted(), ['payments/ads', 'payments/orders']);
  assert.match(JSON.stringify(scene.logged), /Git could not be read/);
});

test('an event of our own write is answered without a request', async () => {
  await send(scene, changed(scene, 'orders'));
  const before = scene.kube.journal().length;
  for (let n = 0; n < 3; n++) assert.equal((await send(scene, changed(scene, 'orders'))).status, 204);
  assert.equal(scene.kube.journal().length, before);
  await send(scene, ping());
  const afterTick = scene.kube.journal().length;
  assert.equal((await send(scene, changed(scene, 'ads'))).status, 204);
  assert.equal(scene.kube.journal().length, afterTick, 'nor what a tick wrote');
});

test('a spec or an annotation of a person’s is news again', async () => {
  await send(scene, changed(scene, 'orders'));
  const live = scene.kube.stored<EtcdCluster>(resources.clusters).find(({ metadata }) => metadata.name === 'orders');
  assert.ok(live);
  await scene.kube.update(resources.clusters, {
    ...live,
    metadata: { ...live.metadata, annotations: { 'etcd.ratchet.dev/paused': 'true' } },
  });
  await send(scene, changed(scene, 'orders'));
  assert.equal(stepped(scene).length, 2);
});

const podOf = (isReady: boolean, name = 'orders-1-0') => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'payments',
    uid: `uid-${name}`,
    labels: { [labels.cluster]: 'orders', [labels.managedBy]: 'etcd-ratchet' },
  },
  spec: { containers: [] },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
});
const podEvent = (data: object, source = '/a') =>
  new CloudEvent({ type: 'dev.knative.apiserver.resource.update', source, data });

test('a pod that was ready, was not, and is ready again is news each time that it gets ready', async () => {
  for (const [isReady, steps] of [
    [true, 1],
    [true, 1],
    [false, 1],
    [true, 2],
  ] as const) {
    scene.kube.seed(resources.pods, podOf(isReady));
    assert.equal((await send(scene, podEvent(podOf(isReady)))).status, 204);
    assert.equal(stepped(scene).length, steps);
  }
});

test('a forged event that a pod is ready suppresses no look when it gets ready', async () => {
  scene.kube.seed(resources.pods, podOf(false));
  assert.equal((await send(scene, podEvent(podOf(true), '/forged'))).status, 204);
  assert.equal(stepped(scene).length, 1);
  scene.kube.seed(resources.pods, podOf(true));
  assert.equal((await send(scene, podEvent(podOf(true)))).status, 204);
  assert.equal(stepped(scene).length, 2, 'the real one is looked after');
});

test('a forged follow-up that claims to be one of many ends no line of follow-ups', () => {
  const wish = (again: number) => ({ kind: 'follow-up', clusters: ['payments/orders'], again }) as const;
  assert.deepEqual(tasksOf([wish(99), wish(0)]), [{ kind: 'follow-up', clusters: ['payments/orders'] }]);
});

test('events that come too fast wait for one pass together, whatever they name', async () => {
  const forged = (n: number) =>
    new CloudEvent({
      type: 'dev.knative.apiserver.ref.update',
      source: `/forged/${n % 4}`,
      data: { kind: 'EtcdCluster', namespace: 'payments', name: `made-up-${n}` },
    });
  const all = await Promise.all(Array.from({ length: 31 }, (_, n) => send(scene, forged(n))));
  assert.deepEqual(new Set(all.map(({ status }) => status)), new Set([204]));
  const passes = scene.kube.requests()['GET cronjobs'] ?? 0;
  assert.ok(passes <= 18, `${passes} passes`);
  assert.equal((await send(scene, changed(scene, 'orders'))).status, 204);
  assert.deepEqual(stepped(scene), ['payments/orders'], 'and a real one is looked after all the same');
});

test('thirty events of one cluster at once are three passes', async () => {
  const held = Promise.withResolvers<void>();
  const one = await open({ before: () => held.promise });
  const references = Array.from({ length: 30 }, () =>
    send(
      one,
      new CloudEvent({
        type: 'dev.knative.apiserver.ref.update',
        source: '/a',
        data: { kind: 'EtcdCluster', namespace: 'payments', name: 'orders' },
      }),
    ),
  );
  held.resolve();
  assert.deepEqual(new Set((await Promise.all(references)).map(({ status }) => status)), new Set([204]));
  assert.ok((one.kube.requests()['GET cronjobs'] ?? 0) <= 3);
});

test('more than it takes at once are told to come again', async () => {
  const held = Promise.withResolvers<void>();
  const one = await open({ before: () => held.promise });
  const all = Array.from({ length: 33 }, () => send(one, ping()));
  const response = await Promise.race(all);
  assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '2']);
  held.resolve();
  await Promise.all(all);
});

test('a suspended CronJob stops everything: 204, said in the log, and seen again when it goes on', async () => {
  scene.kube.seed(resources.cronJobs, { ...cronJob, spec: { ...cronJob.spec, suspend: true } });
  assert.equal((await send(scene, changed(scene, 'orders'))).status, 204);
  assert.deepEqual(stepped(scene), []);
  assert.match(JSON.stringify(scene.logged), /is suspended/);
  scene.kube.seed(resources.cronJobs, cronJob);
  await send(scene, changed(scene, 'orders'));
  assert.deepEqual(stepped(scene), ['payments/orders']);
});

for (const [what, error, status] of [
  ['does not answer', { class: 'retryable', reason: 'Unreachable' }, 503],
  ['refuses', { class: 'terminal', status: 422, reason: 'Invalid' }, 422],
  ['has no room, or grants no right', { class: 'terminal', status: 403, reason: 'Forbidden' }, 503],
] as const) {
  test(`an API server that ${what} is ${status}, and the event is news when it comes again`, async () => {
    let isAway = true;
    const one = await open({
      before: () => {
        if (isAway) throw new KubeError('no', error);
      },
    });
    const event = changed(one, 'orders');
    const response = await send(one, event);
    assert.deepEqual([response.status, await response.text()], [status, '']);
    isAway = false;
    assert.equal((await send(one, event)).status, 204);
    assert.deepEqual(stepped(one), ['payments/orders']);
  });
}

test('a lease whose answer got lost is over: this process knows that its request has ended', async () => {
  let isLost = false;
  const one = await open({
    after: ({ key }) => {
      if (isLost || key !== 'PUT etcdclusters/status') return;
      isLost = true;
      throw new KubeError('no answer', { class: 'retryable', reason: 'Timeout' });
    },
  });
  const { suspend: _, ...spec } = suspended('orders').spec;
  one.kube.seed(resources.clusters, { ...suspended('orders'), spec });
  const event = changed(one, 'orders');
  assert.equal((await send(one, event)).status, 503);
  const [claimed] = one.kube.stored<EtcdCluster>(resources.clusters).filter(({ status }) => status?.step);
  assert.equal(claimed?.metadata.name, 'orders');
  assert.equal((await send(one, event)).status, 204);
  const after = await one.kube.get<EtcdCluster>(resources.clusters, 'payments', 'orders');
  assert.deepEqual([after?.status?.step, after?.status?.history?.length], [undefined, 1]);
});

test('a report that the API server does not take is sent again: no lease outlives its step', async () => {
  let refusals = 2;
  const one = await open({
    before: ({ key, body }) => {
      if (key !== 'PUT etcdclusters/status' || (body as EtcdCluster).status?.step) return;
      if (refusals-- > 0)
        throw new KubeError('busy', { class: 'retryable', status: 503, reason: 'ServiceUnavailable' });
    },
  });
  const { suspend: _, ...spec } = suspended('orders').spec;
  one.kube.seed(resources.clusters, { ...suspended('orders'), spec });
  assert.equal((await send(one, changed(one, 'orders'))).status, 204);
  const after = await one.kube.get<EtcdCluster>(resources.clusters, 'payments', 'orders');
  assert.deepEqual([refusals, after?.status?.step, after?.status?.history?.length], [-1, undefined, 1]);
});

test('a follow-up goes on where it saw a lease last; an event of a cluster does not', () => {
  const cluster = suspended('orders');
  const decision = wait('AnotherInvocationActs', 'somebody is carrying out a step', { on: 'time', afterSeconds: 2 });
  const held: ClusterResult = {
    namespace: 'payments',
    name: 'orders',
    decision,
    reason: decision.reason,
    message: decision.message,
    outcome: 'none',
    workRemains: true,
    cluster,
  };
  const result = { results: { cluster: [held] }, workRemains: true, moved: false, unsettled: true };
  const kinds = ['tick', 'step', 'follow-up'] as const;
  assert.deepEqual(
    kinds.map((kind) => isWorthGoingOn({ kind }, result, now)),
    [true, false, true],
  );
  assert.equal(isWorthGoingOn({ kind: 'follow-up' }, { ...result, workRemains: false }, now), false);
});

test('a follow-up that sees nothing move is followed until the next tick, and not for hours', () => {
  const created = (minutesAgo: number) => ({
    ...suspended('orders'),
    metadata: { name: 'orders', creationTimestamp: new Date(now.getTime() - minutesAgo * 60_000).toISOString() },
  });
  const decision = wait('MemberStarting', '', { on: 'change', of: 'pods' });
  const result = (minutesAgo: number) => ({
    results: {
      cluster: [{ decision, outcome: 'none', workRemains: true, cluster: created(minutesAgo) } as ClusterResult],
    },
    workRemains: true,
    moved: false,
    unsettled: false,
  });
  const worth = (again: number, minutesAgo: number) =>
    isWorthGoingOn({ kind: 'follow-up', again }, result(minutesAgo), now);
  assert.deepEqual([worth(0, 1), worth(1, 1), worth(2, 1), worth(0, 60)], [true, true, false, false]);
  const tick = (minutesAgo: number) => isWorthGoingOn({ kind: 'tick' }, result(minutesAgo), now);
  assert.deepEqual([tick(1), tick(60)], [true, false]);
});

test('malformed is 400 with an empty body, and costs the API server nothing', async () => {
  for (const [headers, body] of [
    [{ 'content-type': 'application/cloudevents+json' }, '{'],
    [{ 'content-type': 'application/cloudevents-batch+json' }, '{}'],
    [{ 'content-type': 'application/json' }, '{}'],
    [{ 'ce-id': '1', 'ce-type': 't', 'ce-specversion': '1.0' }, ''],
  ] as const) {
    const response = await scene.app.request('/events', { method: 'POST', headers: { ...headers }, body });
    assert.deepEqual([response.status, await response.text()], [400, '']);
  }
  assert.deepEqual(scene.kube.journal(), []);
});

test('too large is 413, another method or path 404, an event of no interest 204 for nothing', async () => {
  const headers = { 'content-type': 'application/cloudevents+json' };
  const body = JSON.stringify({ ...ping().toJSON(), data: 'x'.repeat(5 * 1024 * 1024) });
  assert.equal((await scene.app.request('/events', { method: 'POST', headers, body })).status, 413);
  assert.equal((await scene.app.request('/events')).status, 404);
  assert.equal((await scene.app.request('/', { method: 'POST', headers, body: '{}' })).status, 404);
  assert.equal((await send(scene, new CloudEvent({ type: 'com.example', source: '/x' }))).status, 204);
  assert.deepEqual(scene.kube.journal(), []);
});

test('a cluster that is not there is 204: nothing is to be done, ever', async () => {
  const data = { kind: 'EtcdCluster', namespace: 'payments', name: 'gone' };
  const event = new CloudEvent({ type: 'dev.knative.apiserver.ref.update', source: '/a', data });
  assert.equal((await send(scene, event)).status, 204);
  assert.deepEqual(stepped(scene), []);
});
