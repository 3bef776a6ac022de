import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { actOnFleet } from '../../../reconcile/fleet/act.ts';
import { fleetStatus } from '../../../reconcile/fleet/status.ts';
import { type LeftOut, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { clusterOf, entryOf, fleetWith, revision, specOf, treeOf } from './objects.ts';

const now = new Date('2026-05-01T10:00:00Z');
const signal = AbortSignal.timeout(30_000);
const why: LeftOut = { bytes: 2, plural: 'configmaps', mostBytes: 1 };

/** One pass over a tree with one document, of another namespace, and what it reports. */
async function passOver(fleet: ReturnType<typeof fleetWith>, leftOut: ReadonlyMap<string, LeftOut>) {
  const kube = createFakeKube();
  const orders = clusterOf('orders');
  kube.seed(resources.fleets, fleet);
  kube.seed(resources.clusters, orders);
  const metadata = { namespace: 'shop', name: 'carts' };
  const { replicas, version, storage } = orders.spec;
  const object = { metadata, spec: { replicas, version, storage } };
  const tree = treeOf([{ ...specOf('carts'), object, namespace: 'shop' }]);
  const [found] = kube.stored<typeof fleet>(resources.fleets);
  assert.ok(found);
  const clusters = kube.stored<EtcdCluster>(resources.clusters);
  const reading = { kind: 'tree', revision, tree } as const;
  const input = { fleet: found, fleets: [found], clusters, leftOut, reading, kube, signal };
  const result = await actOnFleet({ ...input, log: () => undefined });
  assert.ok(result.kind === 'acted', result.kind);
  const status = fleetStatus({
    fleet: result.fleet,
    outcome: result.outcome,
    clusters: [],
    now,
  });
  return {
    status,
    left: kube
      .stored<EtcdCluster>(resources.clusters)
      .map(({ metadata: { name } }) => name)
      .toSorted(),
  };
}

test('what a namespace that is left out holds of the former repository is of that one still', async () => {
  const former = { url: 'https://git.example.com/former.git', ref: 'main', path: '.' };
  const before = fleetWith({ source: former, inventory: [entryOf('orders')] }, { prune: true });
  const { status } = await passOver(before, new Map([['payments', why]]));
  const { left } = await passOver({ ...before, status }, new Map());
  assert.deepEqual(left, ['carts', 'orders'], 'its file was never in this repository: nothing was removed');
  assert.deepEqual(status.source, former);
});
