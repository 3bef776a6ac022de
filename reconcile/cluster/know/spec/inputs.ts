import type { EtcdPeerSpec } from '../../../../manifests/api/etcd-peer.ts';

/** What one member is made from: compared by hash, never by rendering. */
export type Inputs = Omit<EtcdPeerSpec, 'clusterName' | 'ordinal' | 'bootstrap'>;
