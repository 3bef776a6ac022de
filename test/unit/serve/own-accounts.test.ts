import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReader } from '../../../functions/page/read.ts';
import { createDirectory } from '../../../functions/serve/directory.ts';
import { handOver } from '../../../functions/serve/hand-over.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { type Kube, resources } from '../../../reconcile/interfaces/kube.ts';
import { bornWith } from '../../support/world/born.ts';
import { passIn } from '../../support/world/passing.ts';
import { fleetWith } from '../fleet/objects.ts';

/** What a server lists all its life would add up, until one namespace after the other is left out for good. */
function counting(kube: Kube): Kube {
  const list = () => Promise.reject(new Error('on the account of the whole process'));
  return { ...kube, list, bounded: () => kube };
}

test('the page lists for each look on an account of its own', async () => {
  const world = await bornWith({ replicas: 1 });
  const { state } = world;
  const [cluster] = state.kube.stored<EtcdCluster>(resources.clusters);
  assert.ok(cluster);
  const kube = counting(state.kube);
  const { etcd, wire, holder, nonce } = passIn(world);
  const reader = createReader({ kube, etcd, wire, holder, nonce });
  const looks = [reader.world(), reader.nodePolicies(), reader.reports([cluster.metadata.namespace ?? ''], 'a')];
  await Promise.all([...looks, reader.backups(cluster), reader.schedules(cluster)]);
  const plan = await reader.plan(cluster);
  assert.doesNotMatch(JSON.stringify(plan), /account of the whole process/);
});

test('so do webhooks', async () => {
  const { state } = await bornWith({ replicas: 1 });
  const kube = counting(state.kube);
  const log = () => undefined;
  await createDirectory({ kube, namespace: undefined, log }).look();
  const cronJob = { namespace: 'etcd-ratchet', name: 'etcd-ratchet' };
  const delivered = { fleet: fleetWith(), id: '1', reason: 'push', body: new Uint8Array() };
  const { kind } = await handOver(delivered, { kube, cronJob, signal: AbortSignal.timeout(5000) });
  assert.equal(kind, 'refused');
});
