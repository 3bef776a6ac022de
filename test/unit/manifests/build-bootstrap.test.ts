import assert from 'node:assert/strict';
import { test } from 'node:test';
import { volumeStates } from '../../../manifests/api/etcd-peer.ts';
import { bootstrapVariables, isSealed, sealedInitialCluster } from '../../../manifests/render/bootstrap-variables.ts';
import { configMap } from '../../../manifests/render/config-map.ts';
import { formatInitialCluster, parseInitialCluster } from '../../../manifests/render/initial-cluster.ts';
import { peerOf, recordOf } from './build-fixtures.ts';

const claim = { metadata: { name: 'orders-1', namespace: 'shop', uid: 'claim-uid' } };

const recorded = formatInitialCluster(recordOf().initialCluster);

test('a bootstrapping member starts a new cluster of the recorded members', () => {
  assert.deepEqual(bootstrapVariables(recordOf(), 'orders-1'), {
    ETCD_INITIAL_CLUSTER: recorded,
    ETCD_INITIAL_CLUSTER_STATE: 'new',
  });
});

test('a joining member starts with the recorded list in an existing cluster', () => {
  assert.deepEqual(bootstrapVariables(recordOf({ state: 'joining' }), 'orders-1'), {
    ETCD_INITIAL_CLUSTER: recorded,
    ETCD_INITIAL_CLUSTER_STATE: 'existing',
  });
});

for (const state of volumeStates.filter((other) => other !== 'bootstrapping' && other !== 'joining')) {
  test(`a ${state} volume gives a list that names no member, in a ConfigMap that can't be changed`, () => {
    const record = recordOf({ state });
    assert.ok(isSealed(state));
    assert.deepEqual(bootstrapVariables(record, 'orders-1'), {
      ETCD_INITIAL_CLUSTER: sealedInitialCluster(),
      ETCD_INITIAL_CLUSTER_STATE: 'existing',
    });
    assert.equal(configMap(peerOf(), record, claim).immutable, true);
  });
}

test('a recorded list that does not name the member never lets it start empty', () => {
  assert.equal(bootstrapVariables(recordOf(), 'orders-7').ETCD_INITIAL_CLUSTER, sealedInitialCluster());
});

test('the sealed list is one that etcd can read', () => {
  assert.deepEqual(parseInitialCluster(sealedInitialCluster()), {
    members: [{ name: 'sealed', url: 'http://sealed.invalid:2380' }],
  });
});

test('the ConfigMap belongs to its PVC alone, and stays open until the member is sealed', () => {
  const built = configMap(peerOf(), recordOf(), claim);
  assert.equal(built.metadata.name, 'orders-1');
  assert.equal(built.immutable, undefined);
  assert.deepEqual(built.metadata.ownerReferences, [
    { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name: 'orders-1', uid: 'claim-uid', controller: true },
  ]);
  assert.deepEqual(Object.keys(built.data ?? {}), ['ETCD_INITIAL_CLUSTER', 'ETCD_INITIAL_CLUSTER_STATE']);
});
