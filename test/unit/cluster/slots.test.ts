import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../manifests/kube-types.ts';
import { type MemberObjects, slotsOf } from '../../../reconcile/cluster/observe/slots.ts';
import { healthy } from './observations.ts';

const { cluster } = healthy(1);

function unscheduled(nodeName: string | undefined): string | undefined {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'orders-0-0', namespace: 'shop', uid: 'p' },
    spec: { containers: [], ...(nodeName !== undefined && { nodeName }) },
    status: {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulerError' }],
    },
  };
  const [slot] = slotsOf({
    cluster,
    peers: [],
    volumeClaims: [],
    configMaps: [],
    statefulSets: [],
    pods: [pod],
    services: [],
    disruptionBudgets: [],
    networkPolicies: [],
    requested: { kind: 'unasked' },
  });
  return slot?.pod?.unscheduled;
}

// Seen with kube-scheduler 1.36: a bind that lost against the pod's deletion is reported on the next pod of that name,
// by name only, and stays there while that pod runs.
test('a pod that has a node is scheduled, whatever the condition of its predecessor says', () => {
  assert.equal(unscheduled(undefined), 'SchedulerError');
  assert.equal(unscheduled('node-1'), undefined);
});

test('a ConfigMap is current if its PVC owns it, or its peer, as in an earlier release', () => {
  const named = { name: 'orders-0', namespace: 'shop' };
  const claim = { metadata: { ...named, uid: 'claim' }, spec: { volumeName: 'pv', resources: {} } };
  const peer = {
    metadata: { ...named, uid: 'peer', ownerReferences: [owner('EtcdCluster', 'orders', cluster.metadata.uid ?? '')] },
    spec: healthy(1).slots[0]?.peer?.inputs,
  };
  function owner(kind: string, name: string, uid: string) {
    return { apiVersion: 'v1', kind, name, uid, controller: true };
  }
  const table = [
    [[owner('PersistentVolumeClaim', 'orders-0', 'claim')], { current: true }],
    [[owner('EtcdPeer', 'orders-0', 'peer')], { current: true, byPeer: true }],
    [[owner('PersistentVolumeClaim', 'orders-0', 'former')], { current: false }],
    [[owner('EtcdPeer', 'orders-0', 'former')], { current: false }],
    [[owner('PersistentVolumeClaim', 'another', 'claim-2')], { current: false, foreign: true }],
    [[], { current: false, foreign: true }],
  ] as const;
  for (const [ownerReferences, wanted] of table) {
    const configMap = { metadata: { ...named, uid: 'config', ownerReferences }, data: {} };
    const objects = { cluster, peers: [peer], volumeClaims: [claim], configMaps: [configMap] };
    const [slot] = slotsOf({ ...objects, statefulSets: [], pods: [] } as unknown as MemberObjects);
    const { current, byPeer, foreign } = slot?.configMap ?? assert.fail();
    assert.deepEqual({ current, ...(byPeer && { byPeer }), ...(foreign && { foreign }) }, wanted);
    assert.equal(slot?.volume?.disk?.pv, 'pv');
  }
});
