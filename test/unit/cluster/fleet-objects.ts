import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdClusterStatus } from '../../../manifests/api/etcd-cluster-status.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { VolumeState } from '../../../manifests/api/etcd-peer.ts';
import { labels } from '../../../manifests/render/names.ts';
import { etcdPeer } from '../../../manifests/render/peer.ts';
import { writeVolumeRecord } from '../../../manifests/render/volume-record.ts';
import type { ClusterObjects } from '../../../reconcile/cluster/observe/snapshot.ts';
import { baseSpec, recordFor } from './observations.ts';

export const fleetUid = 'fleet-uid';

export function fleet(maxClustersInProgress?: number | string): EtcdFleet {
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
export function objectsOf(
  name: string,
  {
    behind = 0,
    owner = fleetUid,
    status,
    states = [],
    unready = [],
    readyAt = '2026-01-01T12:00:00Z',
    startedAt = '2026-01-01T12:00:00Z',
    metadata = {},
    spec = {},
  }: {
    behind?: number;
    owner?: string;
    status?: Partial<EtcdClusterStatus>;
    /** Of its volumes; none: it has none yet. */
    states?: readonly VolumeState[];
    /** Members whose pods are not Ready. */
    unready?: readonly number[];
    /** When the last of its pods became Ready, and its etcd started. */
    readyAt?: string;
    startedAt?: string;
    metadata?: Partial<EtcdCluster['metadata']>;
    spec?: Partial<EtcdCluster['spec']>;
  } = {},
): ClusterObjects {
  const cluster: EtcdCluster = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name, namespace: 'shop', uid: name, labels: { [labels.fleet]: owner }, ...metadata },
    spec: { ...baseSpec, ...spec },
    status: { observedGeneration: 1, ...status },
  };
  const peers = [0, 1, 2].map((ordinal) => {
    const spec = ordinal < behind ? { ...baseSpec, etcd: { snapshotCount: 1 } } : baseSpec;
    const peer = etcdPeer(cluster, spec, ordinal, { token: 't', initialCluster: [], state: 'New' });
    return { ...peer, metadata: { ...peer.metadata, uid: `${name}-${ordinal}` } };
  });
  for (const peer of peers)
    Object.assign(peer.metadata, { ownerReferences: [{ ...ownerOf(cluster), controller: true }] });
  const volumeClaims = states.map((state, ordinal) => ({
    metadata: {
      name: `${name}-${ordinal}`,
      uid: `volume-${ordinal}`,
      annotations: writeVolumeRecord(recordFor(ordinal, 3, state)),
    },
    spec: { volumeName: 'pv', resources: { requests: { storage: '1Gi' } } },
  }));
  const pods = states.map((_, ordinal) => ({
    metadata: { name: `${name}-${ordinal}-0`, uid: `pod-${ordinal}` },
    spec: { containers: [], nodeName: 'n' },
    status: {
      conditions: [
        { type: 'Ready', status: unready.includes(ordinal) ? 'False' : 'True', lastTransitionTime: readyAt },
      ],
      containerStatuses: [{ name: 'etcd', ready: true, restartCount: 0, state: { running: { startedAt } } }],
    },
  }));
  return {
    ...{
      volumeClaims,
      configMaps: [],
      statefulSets: [],
      pods,
      services: [],
      disruptionBudgets: [],
      networkPolicies: [],
    },
    cluster,
    peers,
  } as unknown as ClusterObjects;
}

function ownerOf({ apiVersion, kind, metadata }: EtcdCluster) {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' };
}
