import type { EtcdCluster, EtcdClusterSpec } from '../api/etcd-cluster.ts';
import type { EtcdPeer, EtcdPeerSpec, PeerBootstrap } from '../api/etcd-peer.ts';
import { formatVersion, parseVersion } from '../api/version.ts';
import { labelsOf, peerName } from './names.ts';
import { ownerReference } from './owner-reference.ts';

/** The API's own default, for a spec that did not pass the API server. */
const defaultImage = { repository: 'quay.io/coreos/etcd' };

/** What a cluster's effective spec means for each of its members. */
export function peerInputs(effective: EtcdClusterSpec): Omit<EtcdPeerSpec, 'clusterName' | 'ordinal' | 'bootstrap'> {
  const { version, image, storage, etcd, tls, resources, podTemplate } = effective;
  return {
    version: formatVersion(parseVersion(version)),
    image: { ...defaultImage, ...image },
    storage,
    ...(etcd && { etcd }),
    tls,
    ...(resources && { resources }),
    ...(podTemplate && { podTemplate }),
  };
}

/** The peer of this ordinal. Its spec holds all inputs of the member, so that whatever is built later needs no cluster. */
export function etcdPeer(
  cluster: EtcdCluster,
  effective: EtcdClusterSpec,
  ordinal: number,
  bootstrap: PeerBootstrap,
): EtcdPeer {
  const { name, namespace } = cluster.metadata;
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdPeer',
    metadata: {
      name: peerName(name, ordinal),
      ...(namespace !== undefined && { namespace }),
      labels: labelsOf(name),
      ownerReferences: [ownerReference('EtcdCluster', cluster)],
    },
    spec: { clusterName: name, ordinal, ...peerInputs(effective), bootstrap },
  };
}
