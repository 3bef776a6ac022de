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

test('for a new cluster, what signs certificates is loaded, unless others sign them', () => {
  assert.deepEqual(neededFor([having(untouched)]), ['x509']);
  assert.deepEqual(neededFor([having(undefined)]), ['x509']);
  assert.deepEqual(neededFor([having(untouched, { tls: { mode: 'CertManager' } })]), []);
});

test('for a cluster that has been born, what asks etcd is loaded; before, neither is', () => {
  assert.deepEqual(neededFor([having({ observedGeneration: 1 })]), []);
  assert.deepEqual(neededFor([having({ observedGeneration: 1, clusterID: 'a' })]), ['etcd3']);
  assert.deepEqual(neededFor([having({ observedGeneration: 1, clusterID: 'a' }), having(untouched)]), [
    'etcd3',
    'x509',
  ]);
  assert.deepEqual(neededFor([]), []);
});
