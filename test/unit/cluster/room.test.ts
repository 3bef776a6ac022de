import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdCluster, EtcdClusterStatus } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { labels } from '../../../manifests/build/names.ts';
import { etcdPeer } from '../../../manifests/build/peer.ts';
import { decide } from '../../../reconcile/cluster/decide.ts';
import { clustersWithoutRoom } from '../../../reconcile/cluster/room.ts';
import type { ClusterObjects } from '../../../reconcile/cluster/snapshot.ts';
import { baseSpec, healthy, withInputs } from './observations.ts';

const fleetUid = 'fleet-uid';

function fleet(maxClustersInProgress?: number | string): EtcdFleet {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdFleet',
    metadata: { name: 'production', namespace: 'etcd-ratchet', uid: fleetUid },
    spec: {
      git: { url: 'https://git.example.com/a.git', ref: 'main' },
      ...(maxClustersInProgress !== undefined && { maxClustersInProgress }),
    },
  };
}

/** `behind`: so many of its three members do not have yet what the spec asks for. */
function objectsOf(
  name: string,
  {
    behind = 0,
    owner = fleetUid,
    status,
  }: { behind?: number; owner?: string; status?: Partial<EtcdClusterStatus> } = {},
): ClusterObjects {
  const cluster: EtcdCluster = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name, namespace: 'shop', uid: name, labels: { [labels.fleet]: owner } },
    spec: baseSpec,
    status: { observedGeneration: 1, ...status },
  };
  const peers = [0, 1, 2].map((ordinal) => {
    const spec = ordinal < behind ? { ...baseSpec, etcd: { snapshotCount: 1 } } : baseSpec;
    const peer = etcdPeer(cluster, spec, ordinal, { token: 't', initialCluster: [], state: 'New' });
    return { ...peer, metadata: { ...peer.metadata, uid: `${name}-${ordinal}` } };
  });
  return {
    ...{ volumeClaims: [], configMaps: [], statefulSets: [], pods: [], services: [], disruptionBudgets: [] },
    cluster,
    peers,
  } as unknown as ClusterObjects;
}

const at =
  (...all: ClusterObjects[]) =>
  (limit?: number | string) => [...clustersWithoutRoom(all, [fleet(limit)])];

describe('a commit that changes the configuration of a whole fleet', () => {
  const all = ['a', 'b', 'c', 'd', 'e'].map((name) => objectsOf(name, { behind: 3 }));

  test('begins with as many clusters as may be at it, the first by name', () => {
    assert.deepEqual(at(...all)(2), ['c', 'd', 'e']);
    assert.deepEqual(at(...all)('40%'), ['c', 'd', 'e']);
    assert.deepEqual(at(...all)('100%'), []);
  });

  test('moves at all, however small the share', () => {
    assert.deepEqual(at(...all)('1%'), ['b', 'c', 'd', 'e']);
    assert.deepEqual(at(...all)(), ['b', 'c', 'd', 'e']);
  });

  test('waits for one that is in the middle of it, whatever its name', () => {
    const half = objectsOf('z', { behind: 1 });
    assert.deepEqual(at(...all, half)(1), ['a', 'b', 'c', 'd', 'e']);
  });

  test('waits for a member that was started anew and is not back', () => {
    const away = objectsOf('z', {
      status: {
        history: [
          {
            at: '2026-01-01T00:00:00Z',
            action: 'restart-member',
            reason: 'FinishingRolling',
            message: '',
            outcome: 'acted',
          },
        ],
      },
    });
    assert.deepEqual(at(...all, away)(1), ['a', 'b', 'c', 'd', 'e']);
  });

  test('does not wait for one whose members are all back, whatever else a person is asked to do there', () => {
    const entry = { at: '2026-01-01T00:00:00Z', action: 'restart-member', message: '', outcome: 'acted' as const };
    const history = [{ ...entry, reason: 'UpgradingMember' }];
    assert.deepEqual(at(objectsOf('a', { behind: 3 }), objectsOf('z', { status: { history } }))(1), ['a']);
    const back = objectsOf('z', { status: { history, replicas: 3, readyReplicas: 3 } });
    assert.deepEqual(at(objectsOf('a', { behind: 3 }), back)(1), ['z']);
  });

  test('is none of the business of clusters of another fleet, or of none', () => {
    assert.deepEqual(at(...all, objectsOf('foreign', { behind: 1, owner: 'other' }))(5), []);
    assert.deepEqual(at(objectsOf('alone', { behind: 3, owner: 'other' }))(1), []);
  });
});

test('who waited for room comes before who has not asked', () => {
  const waiting = objectsOf('z', {
    status: { lastDecision: { kind: 'wait', reason: 'WaitingForRoom', message: '' } },
  });
  assert.deepEqual(at(objectsOf('a'), waiting)(1), ['a']);
});

test('without room nothing is begun, and what was begun is finished', () => {
  const older = withInputs({ resources: { limits: { memory: '1Gi' } } });
  const none = { ...healthy(3, { every: older }), crowded: true as const };
  assert.equal(decide(none).reason, 'WaitingForRoom');
  const half = { ...healthy(3, { slots: { 1: older } }), crowded: true as const };
  assert.equal(decide(half).reason, 'RollingConfiguration');
});
