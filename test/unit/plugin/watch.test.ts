import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { cluster, condition } from '../../support/page/scene.ts';
import { now, saidOn } from '../../support/plugin/said.ts';

const waiting = cluster('payments/orders', {
  conditions: [
    condition('Ready', 'False', 'MembersStarting', 'orders-0 starts'),
    condition('Reconciling', 'True', 'MembersStarting', 'orders-0 starts'),
  ],
});
const lists = 'LIST etcdclusters';

/** The cluster as each look finds it; the one after the last stops it. `undefined`: the API server does not answer. */
function world(looks: readonly (EtcdCluster | undefined)[]): {
  readonly kube: FakeKube;
  readonly stop: AbortSignal;
  readonly seen: () => number;
} {
  const stopping = new AbortController();
  let seen = 0;
  const kube: FakeKube = createFakeKube({
    clock: () => now,
    before: ({ key }) => {
      if (key !== lists) return;
      const found = looks[seen];
      seen += 1;
      if (seen > looks.length) stopping.abort();
      else if (!found) throw new KubeError('no answer', { class: 'retryable', reason: 'Unreachable' });
      else kube.seed(resources.clusters, found);
    },
  });
  return { kube, stop: stopping.signal, seen: () => seen };
}

test('a view is shown again when it has changed, and not when it has not, until it is stopped', async () => {
  const { kube, stop, seen } = world([waiting, waiting, cluster('payments/orders')]);
  const { code, out, err } = await saidOn(kube, ['status', '--watch', '--interval=1'], { stop });
  assert.deepEqual([code, err, seen()], [0, '', 4]);
  assert.equal(out.match(/^NAME/gm)?.length, 2);
  assert.match(out, /orders +Reconciling[^\n]*\n\nNAME[^\n]*\norders +Ready/);
});

test('on a terminal the screen is emptied first, and says how often it looks and what ends it', async () => {
  const { kube, stop } = world([waiting, cluster('payments/orders')]);
  let cleared = 0;
  const clear = () => {
    cleared += 1;
  };
  const { err } = await saidOn(kube, ['status', '-w', '--interval=1'], { stop, clear });
  assert.equal(cleared, 2);
  assert.match(err, /\nas of 15:00:00 UTC; it looks every 1 s, and Ctrl-C ends it\n$/);
});

test('an API server that does not answer is told, and asked again; what does not pass ends it', async () => {
  const { kube, stop } = world([waiting, undefined, cluster('payments/orders')]);
  const { code, out, err } = await saidOn(kube, ['status', '--watch', '--interval=1'], { stop });
  assert.equal(code, 0);
  assert.match(err, /^no answer; it looks again in 1 s\n$/);
  assert.match(out, /\norders +Ready/);
  const forbidden = createFakeKube({ authorize: () => false });
  const refused = await saidOn(forbidden, ['status', '--watch']);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /^error: .*403 Forbidden/);
});

test('a watch ends where its reader has gone, and its code is that of the last look', async () => {
  const { kube, stop, seen } = world([waiting, waiting]);
  let looks = 0;
  const isClosed = () => {
    looks += 1;
    return looks > 1;
  };
  const { code } = await saidOn(kube, ['status', '--watch', '--interval=1', '--exit-code'], { stop, isClosed });
  assert.deepEqual([code, seen()], [0, 1]);
});

test('each look has an account of its own of what its lists hold', async () => {
  const { kube, stop } = world([waiting, waiting]);
  let accounts = 0;
  const bounded = () => {
    accounts += 1;
    return kube.bounded();
  };
  await saidOn({ ...kube, bounded }, ['status', '--watch', '--interval=1'], { stop });
  assert.equal(accounts, 3);
});

test('a look comes at most each second, and each view can be watched', async () => {
  for (const text of ['0', '3601', '1.5', 'x'])
    assert.equal((await saidOn(world([]).kube, ['status', '--watch', `--interval=${text}`])).code, 2);
  for (const view of ['status', 'why', 'tree', 'members', 'history'])
    assert.match((await saidOn(world([]).kube, [view, '--help'])).out, /-w, --watch/);
});
