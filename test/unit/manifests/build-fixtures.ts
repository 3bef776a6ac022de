import type { EtcdCluster, EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdPeer, EtcdPeerSpec } from '../../../manifests/api/etcd-peer.ts';
import type { PodTemplate } from '../../../manifests/api/member-settings.ts';
import { peerUrl } from '../../../manifests/render/names.ts';
import { etcdPeer } from '../../../manifests/render/peer.ts';
import type { VolumeRecord } from '../../../manifests/render/volume-record.ts';

export function clusterOf(spec: Partial<EtcdClusterSpec> = {}): EtcdCluster {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name: 'orders', namespace: 'payments', uid: 'cluster-uid' },
    spec: { replicas: 3, version: '3.6.16', storage: { size: '8Gi' }, tls: { mode: 'Disabled' }, ...spec },
  };
}

const members = [0, 1, 2].map((n) => ({ name: `orders-${n}`, url: peerUrl('payments', 'orders', `orders-${n}`) }));

export function recordOf(over: Partial<VolumeRecord> = {}): VolumeRecord {
  return {
    token: 'token-1',
    initialCluster: members,
    version: '3.6.16',
    tlsMode: 'Disabled',
    state: 'bootstrapping',
    ...over,
  };
}

/** Peer `orders-1`, as if read back from the API server. */
export function peerOf(over: Partial<EtcdPeerSpec> = {}): EtcdPeer {
  const cluster = clusterOf();
  const built = etcdPeer(cluster, cluster.spec, 1, { token: 'token-1', initialCluster: members, state: 'New' });
  return { ...built, metadata: { ...built.metadata, uid: 'peer-uid' }, spec: { ...built.spec, ...over } };
}

export function peerWithTemplate(spec: Record<string, unknown>, metadata: PodTemplate['metadata'] = {}): EtcdPeer {
  return peerOf({ podTemplate: { metadata, spec } });
}
