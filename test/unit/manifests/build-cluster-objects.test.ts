import assert from 'node:assert/strict';
import { test } from 'node:test';
import { disruptionBudget } from '../../../manifests/render/disruption-budget.ts';
import { inputsHashOf } from '../../../manifests/render/inputs-hash.ts';
import { podSelector } from '../../../manifests/render/names.ts';
import { isControlledBy, ownerReference } from '../../../manifests/render/owner-reference.ts';
import { etcdPeer } from '../../../manifests/render/peer.ts';
import { clientService, headlessService } from '../../../manifests/render/services.ts';
import { clusterOf } from './build-fixtures.ts';

test('the headless Service publishes members before they are Ready', () => {
  const { metadata, spec } = headlessService(clusterOf());
  assert.equal(metadata.name, 'orders-peers');
  assert.equal(spec.clusterIP, 'None');
  assert.equal(spec.publishNotReadyAddresses, true);
  assert.deepEqual(
    spec.ports?.map(({ name, port }) => [name, port]),
    [
      ['client', 2379],
      ['peer', 2380],
      ['metrics', 2381],
    ],
  );
});

test('the client Service leads to Ready members only', () => {
  const { metadata, spec } = clientService(clusterOf());
  assert.equal(metadata.name, 'orders');
  assert.equal(spec.publishNotReadyAddresses, undefined);
  assert.deepEqual(spec.selector, podSelector('orders'));
  assert.deepEqual(
    spec.ports?.map(({ port }) => port),
    [2379],
  );
});

test('the disruption budget counts pods, and its inputs follow the number', () => {
  const budget = disruptionBudget(clusterOf(), 2);
  assert.equal(budget.spec.minAvailable, 2);
  assert.equal(budget.spec.maxUnavailable, undefined);
  assert.deepEqual(budget.spec.selector, { matchLabels: podSelector('orders') });
  assert.equal(inputsHashOf(budget), inputsHashOf(disruptionBudget(clusterOf(), 2)));
  assert.notEqual(inputsHashOf(budget), inputsHashOf(disruptionBudget(clusterOf(), 3)));
});

test('what a cluster owns is told from what its namesake of an earlier life owned', () => {
  for (const object of [headlessService(clusterOf()), clientService(clusterOf()), disruptionBudget(clusterOf(), 2)]) {
    assert.ok(isControlledBy(object, 'cluster-uid'));
    assert.ok(!isControlledBy(object, 'earlier-uid'));
  }
});

test('an owner that was never read from the API server is refused', () => {
  assert.throws(
    () => ownerReference('EtcdCluster', { metadata: { name: 'orders', namespace: 'payments' } }),
    /EtcdCluster payments\/orders has no uid/,
  );
});

test('a peer holds all inputs of its member, with the default image and a plain version', () => {
  const cluster = clusterOf({ version: 'v3.6.16', resources: { limits: { cpu: 1 } } });
  const bootstrap = { token: 't', initialCluster: [], state: 'New' as const };
  const peer = etcdPeer(cluster, cluster.spec, 10, bootstrap);
  assert.equal(peer.metadata.name, 'orders-10');
  assert.equal(peer.metadata.ownerReferences?.[0]?.uid, 'cluster-uid');
  assert.deepEqual(peer.spec, {
    clusterName: 'orders',
    ordinal: 10,
    version: '3.6.16',
    image: { repository: 'quay.io/coreos/etcd' },
    storage: { size: '8Gi' },
    tls: { mode: 'Disabled' },
    resources: { limits: { cpu: 1 } },
    bootstrap,
  });
});
