import type { EtcdPeer } from '../api/etcd-peer.ts';
import type { ConfigMap, PersistentVolumeClaim } from '../kube-types.ts';
import { bootstrapVariables, isSealed } from './bootstrap-variables.ts';
import { peerLabels } from './names.ts';
import { claimReference } from './owner-reference.ts';
import type { VolumeRecord } from './volume-record.ts';

/**
 * The bootstrap variables of a peer, by its volume, whose PVC owns them: they go with it, so that a pod on another PVC
 * of that name can't start before a step has compared the disk. Immutable once sealed: no late update can unseal it,
 * and kubelet need not watch it.
 */
export function configMap(
  peer: Pick<EtcdPeer, 'metadata'> & { readonly spec: Pick<EtcdPeer['spec'], 'clusterName'> },
  record: Pick<VolumeRecord, 'state' | 'initialCluster'>,
  claim: Pick<PersistentVolumeClaim, 'metadata'>,
): ConfigMap {
  const { name, namespace } = peer.metadata;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: peerLabels(peer.spec.clusterName, name),
      ownerReferences: [claimReference(claim)],
    },
    data: { ...bootstrapVariables(record, name) },
    ...(isSealed(record.state) && { immutable: true }),
  };
}
