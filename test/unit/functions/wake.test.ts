import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { labels } from '../../../manifests/render/names.ts';
import { clusterKind } from '../../../reconcile/cluster/kind.ts';
import { type Decision, type Wake, wait } from '../../../reconcile/cluster/know/decision.ts';
import { clustersWake, wakesOf } from '../../../reconcile/cluster/quiet.ts';
import type { ClusterResult } from '../../../reconcile/cluster/result.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { createWaker, forgetNews, type Waiting, waitFor } from '../../../reconcile/stepping/wake.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { clusterOf } from '../fleet/objects.ts';

function waiting(name: string, ...wakes: Wake[]): Waiting {
  return { key: `payments/${name}`, wakes };
}

function resultOf(name: string, decision: Decision, outcome: ClusterResult['outcome'] = 'none'): ClusterResult {
  const cluster: EtcdCluster = clusterOf(name);
  const { reason, message } = decision;
  return { namespace: 'payments', name, reason, message, decision, outcome, workRemains: true, cluster };
}

function pod(cluster: string, ready: boolean, reason?: string) {
  return {
    metadata: {
      name: `${cluster}-0-0`,
      namespace: 'payments',
      uid: `pod-${cluster}`,
      labels: { 'etcd.ratchet.dev/cluster': cluster },
    },
    status: {
      phase: ready ? 'Running' : 'Pending',
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      containerStatuses: [
        { restartCount: 0, state: ready ? { running: {} } : { waiting: { reason: reason ?? 'ContainerCreating' } } },
      ],
    },
  };
}

async function stage() {
  const kube = createFakeKube();
  const { resourceVersion } = await kube.list(resources.clusters, {});
  const waker = createWaker({ kube, resourceVersion, log: () => {}, label: labels.cluster });
  return { kube, waker, [Symbol.dispose]: () => waker[Symbol.dispose]() };
}

const now = new Date('2026-05-01T10:00:00Z');
const onPods: Wake = { on: 'change', of: 'pods' };

test('a pod that gets ready wakes its cluster, and no other', async () => {
  using scene = await stage();
  const woken = waitFor(scene.waker, [waiting('orders', onPods), waiting('users', onPods)], AbortSignal.timeout(5_000));
  scene.kube.seed(resources.pods, pod('orders', false));
  scene.kube.seed(resources.pods, pod('orders', true));
  assert.deepEqual([...(await woken)], ['payments/orders']);
});

test('what goes away wakes its cluster, of whatever kind a decision waits for', async () => {
  for (const kind of ['pods', 'statefulSets', 'volumeClaims', 'peers', 'jobs'] as const) {
    using scene = await stage();
    const { metadata } = pod('orders', false);
    scene.kube.seed(resources[kind], { metadata });
    const woken = waitFor(scene.waker, [waiting('orders', { on: 'change', of: kind })], AbortSignal.timeout(5_000));
    scene.kube.remove(resources[kind], metadata.namespace, metadata.name);
    assert.equal((await woken).size, 1, kind);
  }
});

test('what happened between the list and the watch is not missed', async () => {
  using scene = await stage();
  scene.kube.seed(resources.pods, pod('orders', true));
  const woken = await waitFor(scene.waker, [waiting('orders', onPods)], AbortSignal.timeout(5_000));
  assert.equal(woken.size, 1);
});

test('a pod that starts normally wakes no cluster; one in trouble does', async () => {
  using scene = await stage();
  scene.kube.seed(resources.pods, pod('orders', false));
  assert.equal((await waitFor(scene.waker, [waiting('orders', onPods)], AbortSignal.timeout(300))).size, 0);
  scene.kube.seed(resources.pods, pod('orders', false, 'ErrImagePull'));
  assert.equal((await waitFor(scene.waker, [waiting('orders', onPods)], AbortSignal.timeout(5_000))).size, 1);
});

test('a Job that ends wakes its cluster, however long all was quiet; one that runs does not', async () => {
  for (const end of ['Complete', 'Failed', 'FailureTarget']) {
    using scene = await stage();
    const { metadata } = pod('orders', false);
    const results = [waiting('orders', { on: 'change', of: 'jobs' }, { on: 'time', afterSeconds: 60 })];
    scene.kube.seed(resources.jobs, { metadata, status: { active: 1 } });
    assert.equal((await waitFor(scene.waker, results, AbortSignal.timeout(300))).size, 0);
    const woken = waitFor(scene.waker, results, AbortSignal.timeout(5_000));
    scene.kube.seed(resources.jobs, { metadata, status: { conditions: [{ type: end, status: 'True' }] } });
    assert.equal((await woken).size, 1, end);
  }
});

test('what was heard before looking again is forgotten, what comes later is not', async () => {
  using scene = await stage();
  scene.kube.seed(resources.pods, pod('orders', true));
  await waitFor(scene.waker, [waiting('orders', onPods)], AbortSignal.timeout(5_000));
  forgetNews(scene.waker, new Set(['payments/orders']));
  assert.equal((await waitFor(scene.waker, [waiting('orders', onPods)], AbortSignal.timeout(300))).size, 0);
  scene.kube.remove(resources.pods, 'payments', 'orders-0-0');
  assert.equal((await waitFor(scene.waker, [waiting('orders', onPods)], AbortSignal.timeout(5_000))).size, 1);
});

test('a time wakes, and a lost lease is looked at again soon', async () => {
  using scene = await stage();
  const timed = waiting('orders', { on: 'time', afterSeconds: 0 });
  assert.deepEqual([...(await waitFor(scene.waker, [timed], AbortSignal.timeout(5_000)))], ['payments/orders']);
  const lost = resultOf('users', wait('NoQuorum', 'x'), 'lost');
  assert.deepEqual(
    [...(await waitFor(scene.waker, clustersWake([lost], now), AbortSignal.timeout(5_000)))],
    ['payments/users'],
  );
});

test('after a lost lease or a failed action a cluster is looked at again within two seconds', () => {
  const again = [{ on: 'time', afterSeconds: 2 }];
  const later = wait('NoQuorum', 'x', { on: 'time', afterSeconds: 60 });
  for (const outcome of ['lost', 'failed'] as const) {
    assert.deepEqual(wakesOf(resultOf('orders', later, outcome)), again, outcome);
    assert.deepEqual(
      wakesOf(resultOf('orders', { kind: 'done', reason: 'NoQuorum', message: 'x' }, outcome)),
      again,
      outcome,
    );
  }
  assert.deepEqual(wakesOf(resultOf('orders', later)), [{ on: 'time', afterSeconds: 60 }]);
  assert.deepEqual(wakesOf(resultOf('orders', { kind: 'done', reason: 'NoQuorum', message: 'x' })), []);
});

test('a watch that fails is a late wake, never none', async () => {
  using scene = await stage();
  scene.kube.seed(resources.pods, pod('users', false));
  scene.kube.compact();
  const woken = await waitFor(scene.waker, [waiting('orders', onPods)], AbortSignal.timeout(5_000));
  assert.deepEqual([...woken], ['payments/orders']);
});

test('where a watch is refused, a wait that named a time wakes by that alone', async () => {
  const kube = createFakeKube({ authorize: ({ verb }) => verb !== 'WATCH' });
  const told: string[] = [];
  const log = (_: object, message: string) => told.push(message);
  using waker = createWaker({ kube, resourceVersion: '1', log, label: labels.cluster });
  const timed = waiting('orders', onPods, { on: 'time', afterSeconds: 60 });
  const untimed = waiting('users', onPods);
  for (let rounds = 0; rounds < 2; rounds += 1) {
    assert.deepEqual([...(await waitFor(waker, [timed, untimed], AbortSignal.timeout(10_000)))], ['payments/users']);
    forgetNews(waker, new Set(['payments/users']));
  }
  assert.deepEqual(told, ['pods cannot be watched; the timers go on']);
});

test('a watch that finds no API server for a moment is begun anew, and misses nothing', async () => {
  let breaks = true;
  const kube = createFakeKube({
    before: ({ verb }) => {
      if (verb !== 'WATCH' || !breaks) return;
      breaks = false;
      throw new KubeError('no answer', { class: 'retryable', status: undefined, reason: 'Unreachable' });
    },
  });
  const { resourceVersion } = await kube.list(resources.clusters, {});
  using waker = createWaker({ kube, resourceVersion, log: () => {}, label: labels.cluster });
  const wakes: Wake[] = [onPods, { on: 'time', afterSeconds: 60 }];
  kube.seed(resources.pods, pod('orders', true));
  const both = [waiting('orders', ...wakes), waiting('users', ...wakes)];
  assert.deepEqual([...(await waitFor(waker, both, AbortSignal.timeout(10_000)))], ['payments/orders']);
});

test('a watch that breaks unexpectedly is logged, and ends neither the process nor the timers', async () => {
  const kube = createFakeKube();
  const told: string[] = [];
  const broken = {
    ...kube,
    watch: () => {
      throw new TypeError('an answer of no known shape');
    },
  };
  const logged = Promise.withResolvers<void>();
  const log = ({ problem }: { problem?: unknown }) => {
    told.push(String(problem));
    logged.resolve();
  };
  const waker = createWaker({ kube: broken, resourceVersion: '1', log, label: labels.cluster });
  try {
    const wakes: Wake[] = [onPods, { on: 'time', afterSeconds: 0.01 }];
    const woken = await waitFor(waker, [waiting('orders', ...wakes)], AbortSignal.timeout(5_000));
    assert.equal(woken.size, 1);
    // On a busy machine the time comes first.
    await logged.promise;
    assert.deepEqual(told, ['an answer of no known shape']);
  } finally {
    waker[Symbol.dispose]();
  }
});

test('another cluster that begins to change wakes a follow-up if asked, a settled one does not', async () => {
  const kube = createFakeKube();
  const { resourceVersion } = await kube.list(resources.clusters, {});
  const begun = clusterOf('begun');
  const settled = clusterOf('settled');
  const done = {
    observedGeneration: settled.metadata.generation,
    lastDecision: { kind: 'Done', reason: 'x', message: 'x' },
  };
  for (const others of [false, true]) {
    const waker = createWaker({
      kube,
      resourceVersion,
      log: () => {},
      label: labels.cluster,
      ...(others && { adopts: clusterKind.waits.adopts }),
    });
    kube.seed(resources.clusters, begun, { ...settled, status: { ...settled.status, ...done } } as EtcdCluster);
    const woken = await waitFor(waker, [waiting('orders', onPods)], AbortSignal.timeout(others ? 5_000 : 300));
    assert.deepEqual([...woken], others ? ['payments/begun'] : []);
    waker[Symbol.dispose]();
  }
});

test('a wait of months is one wait: a timer that overflows would fire at once, again and again', async () => {
  using scene = await stage();
  const warnings: string[] = [];
  const note = ({ name }: Error) => warnings.push(name);
  process.on('warning', note);
  try {
    const months = waiting('orders', { on: 'time', afterSeconds: 90 * 24 * 3600 });
    assert.equal((await waitFor(scene.waker, [months], AbortSignal.timeout(50))).size, 0);
    // Warnings come with the next turn.
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(warnings, []);
  } finally {
    process.off('warning', note);
  }
});

test('what is being stepped wakes by nothing: what happens to it is news afterwards', async () => {
  using scene = await stage();
  const waits = [waiting('orders', onPods), waiting('users', onPods)];
  const woken = waitFor(scene.waker, waits, AbortSignal.timeout(5_000));
  scene.kube.seed(resources.pods, pod('users', true));
  assert.deepEqual([...(await woken)], ['payments/users']);
  const stepping = new Set(['payments/users']);
  forgetNews(scene.waker, stepping);
  const other = waitFor(scene.waker, [waiting('orders', onPods)], AbortSignal.timeout(5_000), stepping);
  scene.kube.seed(resources.pods, pod('users', false, 'CrashLoopBackOff'));
  scene.kube.seed(resources.pods, pod('orders', true));
  assert.deepEqual([...(await other)], ['payments/orders']);
  forgetNews(scene.waker, new Set(['payments/orders']));
  assert.deepEqual([...(await waitFor(scene.waker, waits, AbortSignal.timeout(5_000)))], ['payments/users']);
});

test('what another invocation begins to change wakes after its step of this one, not before', async () => {
  const kube = createFakeKube();
  const { resourceVersion } = await kube.list(resources.clusters, {});
  const { adopts } = clusterKind.waits;
  using waker = createWaker({ kube, resourceVersion, log: () => {}, label: labels.cluster, adopts });
  kube.seed(resources.clusters, clusterOf('orders'));
  assert.equal((await waitFor(waker, [], AbortSignal.timeout(300), new Set(['payments/orders']))).size, 0);
  assert.deepEqual([...(await waitFor(waker, [], AbortSignal.timeout(5_000)))], ['payments/orders']);
});
