import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  clientUrl,
  ordinalOf,
  peerLabels,
  peerName,
  peerUrl,
  podName,
  podSelector,
  schemeOf,
  selectorOf,
} from '../../../manifests/render/names.ts';

const clusterName = fc.stringMatching(/^[a-z]([a-z0-9-]{0,20}[a-z0-9])?$/);

test("a peer's ordinal is read back from its name", () => {
  fc.assert(
    fc.property(clusterName, fc.nat(), (cluster, ordinal) => {
      assert.equal(ordinalOf(cluster, peerName(cluster, ordinal)), ordinal > 999_999_999 ? undefined : ordinal);
    }),
  );
});

test('peers sort by number, not by spelling', () => {
  const sorted = ['c-10', 'c-9', 'c-0'].toSorted((a, b) => (ordinalOf('c', a) ?? 0) - (ordinalOf('c', b) ?? 0));
  assert.deepEqual(sorted, ['c-0', 'c-9', 'c-10']);
});

for (const name of [
  'c',
  'c-',
  'c-01',
  'c-1-0',
  'c--1',
  'c-+1',
  'c- 1',
  'c-1e2',
  'd-1',
  'cc-1',
  'c-1\n',
  'c-9999999999',
]) {
  test(`${JSON.stringify(name)} is no peer of cluster c`, () => {
    assert.equal(ordinalOf('c', name), undefined);
  });
}

test('addresses name the pod behind the headless Service of its namespace', () => {
  assert.equal(peerUrl('payments', 'orders', 'orders-2'), 'http://orders-2-0.orders-peers.payments.svc:2380');
  assert.equal(clientUrl('payments', 'orders', 'orders-2'), 'http://orders-2-0.orders-peers.payments.svc:2379');
  assert.equal(podName('orders-2'), 'orders-2-0');
});

test('every TLS mode but Disabled gives https addresses', () => {
  assert.equal(schemeOf('Disabled'), 'http');
  for (const mode of ['Managed', 'CertManager', 'Provided']) assert.equal(schemeOf(mode), 'https');
});

test('the selector matches every pod of the cluster, as a record and as a string', () => {
  const labels = peerLabels('orders', 'orders-1');
  for (const [key, value] of Object.entries(podSelector('orders'))) assert.equal(labels[key], value);
  assert.equal(selectorOf('orders'), 'app.kubernetes.io/name=etcd,etcd.ratchet.dev/cluster=orders');
});
