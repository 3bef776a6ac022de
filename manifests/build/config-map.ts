import type { EtcdPeer } from '../api/etcd-peer.ts';
import type { ConfigMap } from '../kube-types.ts';
import { bootstrapVariables, isSealed } from './bootstrap-variables.ts';
import { peerLabels } from './names.ts';
import { ownerReference } from './owner-reference.ts';
import type { VolumeRecord } from './volume-record.ts';

/**
 * The two bootstrap variables of a peer, following its volume.
 *
 * Immutable once sealed: then nobody, a late invocation included, can unseal it by an update, and kubelet need not watch it.
 */
export function configMap(peer: EtcdPeer, record: Pick<VolumeRecord, 'state' | 'initialCluster'>): ConfigMap {
  const { name, namespace } = peer.metadata;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: peerLabels(peer.spec.clusterName, name),
      ownerReferences: [ownerReference('EtcdPeer', peer)],
    },
    data: { ...bootstrapVariables(record, name) },
    ...(isSealed(record.state) && { immutable: true }),
  };
}
