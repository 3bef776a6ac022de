import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { rollUp, verdictsOf } from '../../../reconcile/fleet/roll-up.ts';

function clusterThatIs(reason: string, { observed = 1, ready = 'False' as 'True' | 'False' } = {}): EtcdCluster {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name: 'orders', namespace: 'payments', generation: 1 },
    spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' }, tls: { mode: 'Disabled' } },
    status: {
      observedGeneration: observed,
      conditions: [
        { type: 'Ready', status: ready, reason, message: reason, lastTransitionTime: '2026-11-21T00:00:00Z' },
      ],
    },
  };
}

for (const reason of ['Suspended', 'Paused']) {
  test(`a cluster that is ${reason} is as its commit asked, although nothing of it runs`, () => {
    assert.deepEqual(
      verdictsOf([clusterThatIs(reason)]).map(({ verdict }) => verdict),
      ['Current'],
    );
  });

  test(`that it was ${reason} says nothing about a newer spec`, () => {
    assert.deepEqual(
      verdictsOf([clusterThatIs(reason, { observed: 0 })]).map(({ verdict }) => verdict),
      ['InProgress'],
    );
  });
}

test('a suspended cluster whose clients are not served is not as its commit asked: it is Stalled', () => {
  const { status, ...cluster } = clusterThatIs('Suspended');
  const lastTransitionTime = '2026-11-21T00:00:00Z';
  const stalled = {
    type: 'Stalled',
    status: 'True',
    reason: 'Suspended',
    message: 'no writes',
    lastTransitionTime,
  } as const;
  const told = { observedGeneration: 1, conditions: [...(status?.conditions ?? []), stalled] };
  assert.partialDeepStrictEqual(verdictsOf([{ ...cluster, status: told }]), [
    { verdict: 'Failed', message: 'no writes' },
  ]);
});

test('a roll-up counts each cluster once', () => {
  const clusters = [
    clusterThatIs('Converged', { ready: 'True' }),
    clusterThatIs('WaitingForQuorum'),
    clusterThatIs('Suspended'),
  ];
  assert.deepEqual(rollUp(verdictsOf(clusters)), { total: 3, ready: 2, reconciling: 1, stalled: 0 });
});
