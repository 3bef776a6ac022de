import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdClusterStatus } from '../../../manifests/api/etcd-cluster-status.ts';
import { neededFor } from '../../../reconcile/cluster/load-ahead.ts';
import { cluster } from '../manifests/api-documents.ts';

function having(status: EtcdClusterStatus | undefined, spec: Partial<EtcdCluster['spec']> = {}): EtcdCluster {
  const given = cluster as unknown as EtcdCluster;
  return { ...given, spec: { ...given.spec, ...spec }, ...(status && { status }) };
}

// As the API server fills it in.
const untouched = { observedGeneration: -1 };

const now = new Date('2026-01-02T03:04:05Z');

test('for a new cluster, what signs certificates is loaded, unless others sign them', () => {
  assert.deepEqual(neededFor([having(untouched)], now), ['x509']);
  assert.deepEqual(neededFor([having(undefined)], now), ['x509']);
  assert.deepEqual(neededFor([having(untouched, { tls: { mode: 'CertManager' } })], now), []);
});

test('for a cluster that has been born, what asks etcd is loaded; before, neither is', () => {
  assert.deepEqual(neededFor([having({ observedGeneration: 1 })], now), []);
  assert.deepEqual(neededFor([having({ observedGeneration: 1, clusterID: 'a' })], now), ['etcd3']);
  assert.deepEqual(neededFor([having({ observedGeneration: 1, clusterID: 'a' }), having(untouched)], now), [
    'etcd3',
    'x509',
  ]);
  assert.deepEqual(neededFor([], now), []);
});
