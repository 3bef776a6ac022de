import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdClusterStatus } from '../../../manifests/api/etcd-cluster-status.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { now, saidOn } from '../../support/plugin/said.ts';

const asked = '2026-11-23T15:00:00Z';

function clusterOf(
  status: Partial<EtcdClusterStatus> = {},
  metadata: Partial<EtcdCluster['metadata']> = {},
): EtcdCluster {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { namespace: 'payments', name: 'orders', uid: 'u', generation: 1, ...metadata },
    spec: { replicas: 2, version: '3.6.16', storage: { size: '1Gi' } },
    status: { observedGeneration: 1, members: [member(0), member(1)], ...status },
  };
}

function member(ordinal: number, defragmentedAt?: string) {
  const at = defragmentedAt === undefined ? {} : { defragmentedAt };
  return { name: `orders-${ordinal}`, role: 'Voter' as const, healthy: true, dbBytes: 2_097_152, ...at };
}

/** A world in which a pass answers the request with this status. */
function answering(status: Partial<EtcdClusterStatus>, cluster = clusterOf()): FakeKube {
  const kube: FakeKube = createFakeKube({
    clock: () => now,
    after: ({ key }) => {
      if (key !== 'PUT etcdclusters') return;
      const [found] = kube.stored<EtcdCluster>(resources.clusters);
      assert.ok(found?.status);
      kube.seed(resources.clusters, { ...found, status: { ...found.status, ...status } });
    },
  });
  kube.seed(resources.clusters, cluster);
  return kube;
}

const annotationsIn = (kube: FakeKube) => kube.stored<EtcdCluster>(resources.clusters)[0]?.metadata.annotations ?? {};

describe('kubectl ratchet defrag', () => {
  test('asks by the API server’s clock, waits until each member has, and tells their sizes', async () => {
    const kube = answering({ members: [member(0, asked), member(1, asked)] });
    const { code, out, err } = await saidOn(kube, ['defrag', 'orders']);
    assert.deepEqual([code, out], [0, 'payments/orders was defragmented: orders-0 (2.0 MiB), orders-1 (2.0 MiB)\n']);
    assert.match(err, /no CronJob etcd-ratchet\/etcd-ratchet: the next pass answers/);
    assert.equal(annotationsIn(kube)['etcd.ratchet.dev/defragment'], asked);
    assert.equal(annotationsIn(kube)['etcd.ratchet.dev/reconcile'], asked);
    const told = JSON.parse(
      (await saidOn(answering({ members: [member(0, asked)] }), ['defrag', 'orders', '-o', 'json'])).out,
    );
    assert.deepEqual([told.request, told.members], [asked, [{ name: 'orders-0', dbBytes: 2_097_152 }]]);
  });

  test('that is not through in time names the members that it waits for', async () => {
    const kube = answering({ members: [member(0, asked), member(1, '2026-11-23T14:59:59Z')] });
    const { code, err } = await saidOn(kube, ['defrag', 'orders', '--wait=1']);
    assert.equal(code, 1);
    assert.match(
      err,
      /within 1 s orders-1 was not defragmented; it goes on by itself: kubectl ratchet -n payments why orders/,
    );
  });

  test('tells of a member that could not, in the words of its step', async () => {
    const step = { action: 'defragment-member', reason: 'EtcdRefused', message: 'no space left\u001b[2J' };
    const failed = { ...step, at: asked, target: 'orders-1', outcome: 'failed' };
    const kube = answering({ members: [member(0, asked), member(1, asked)], history: [failed] });
    const { code, err } = await saidOn(kube, ['defrag', 'orders']);
    assert.equal(code, 1);
    assert.match(err, /not all could: orders-1: no space left\\u001b\[2J\n$/);
  });

  test('of a cluster that is paused, not there, or made anew meanwhile asks nothing', async () => {
    const paused = answering({}, clusterOf({}, { annotations: { 'etcd.ratchet.dev/paused': 'yes' } }));
    const held = await saidOn(paused, ['defrag', 'orders']);
    assert.equal(held.code, 1);
    assert.match(held.err, /is paused or suspended, so no member would be defragmented: go on with it first/);
    assert.equal(annotationsIn(paused)['etcd.ratchet.dev/defragment'], undefined);
    assert.equal((await saidOn(createFakeKube(), ['defrag', 'orders'])).code, 1);
    for (const args of [['defrag'], ['defrag', 'a', 'b'], ['defrag', 'orders', '--wait=-1'], ['defrag', 'Or ders']])
      assert.equal((await saidOn(paused, args)).code, 2, args.join(' '));
  });

  test('does not wait with --wait=0, and why shows how far it is until all is done', async () => {
    const annotations = { 'etcd.ratchet.dev/defragment': asked };
    const kube = answering({});
    const { code, out } = await saidOn(kube, ['defrag', 'orders', '--wait=0']);
    assert.deepEqual(
      [code, out],
      [0, 'payments/orders was asked; kubectl ratchet -n payments why orders shows how far it is\n'],
    );
    const half = answering({}, clusterOf({ members: [member(0, asked), member(1)] }, { annotations }));
    assert.match(
      (await saidOn(half, ['why', 'orders'])).out,
      /asked for since 2026-11-23T15:00:00Z; still to come: orders-1\n/,
    );
    const done = answering({}, clusterOf({ members: [member(0, asked), member(1, asked)] }, { annotations }));
    assert.doesNotMatch((await saidOn(done, ['why', 'orders'])).out, /defragmentation/);
  });

  test('of a cluster of one says that it does not serve meanwhile', async () => {
    const kube = answering({ members: [member(0, asked)] }, clusterOf({ members: [member(0)] }));
    assert.match((await saidOn(kube, ['defrag', 'orders'])).err, /has one member: it does not serve meanwhile/);
  });
});
