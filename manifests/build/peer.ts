import type { EtcdCluster, EtcdClusterSpec } from '../api/etcd-cluster.ts';
import type { EtcdPeer, EtcdPeerSpec, PeerBootstrap } from '../api/etcd-peer.ts';
import { tlsDefaults } from '../api/tls-defaults.ts';
import { formatVersion, parseVersion } from '../api/version.ts';
import { labelsOf, peerName } from './names.ts';
import { ownerReference } from './owner-reference.ts';

/** The API's own default, for a spec that did not pass the API server. */
const defaultImage = { repository: 'quay.io/coreos/etcd' };

/** A cluster's spec as far as it can be honoured, with the CAs that its members must have loaded. */
export type EffectiveSpec = Omit<EtcdClusterSpec, 'tls'> & {
  readonly tls?: NonNullable<EtcdClusterSpec['tls']> & { readonly trust?: string };
};

/** What a cluster's effective spec means for each of its members. */
export function peerInputs(effective: EffectiveSpec): Omit<EtcdPeerSpec, 'clusterName' | 'ordinal' | 'bootstrap'> {
  const { version, image, storage, etcd, tls, resources, podTemplate } = effective;
  return {
    version: formatVersion(parseVersion(version)),
    image: { ...defaultImage, ...image },
    storage,
    ...(etcd && { etcd }),
    tls: peerTls(tls),
    ...(resources && { resources }),
    ...(podTemplate && { podTemplate }),
  };
}

/** Without what only decides about the certificates themselves: a longer lifetime restarts nobody. */
function peerTls(tls: EffectiveSpec['tls']): EtcdPeerSpec['tls'] {
  const { mode = tlsDefaults.mode, trust } = tls ?? {};
  return { mode, ...(trust !== undefined && { trust }) };
}

/** The peer of this ordinal. Its spec holds all inputs of the member, so that whatever is built later needs no cluster. */
export function etcdPeer(
  cluster: EtcdCluster,
  effective: EffectiveSpec,
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
