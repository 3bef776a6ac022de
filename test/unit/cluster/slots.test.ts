import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../manifests/kube-types.ts';
import { slotsOf } from '../../../reconcile/cluster/slots.ts';
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
    requested: { kind: 'unasked' },
  });
  return slot?.pod?.unscheduled;
}

// Seen with kube-scheduler 1.36: a bind that lost against the pod's deletion is reported on the next pod of that name, by
// name only, and stays there while that pod runs.
test('a pod that has a node is scheduled, whatever the condition of its predecessor says', () => {
  assert.equal(unscheduled(undefined), 'SchedulerError');
  assert.equal(unscheduled('node-1'), undefined);
});
