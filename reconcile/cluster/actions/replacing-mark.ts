import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import { resources } from '../../kube.ts';
import { replacingVolume } from '../marks.ts';
import type { ActContext } from './context.ts';

/** The peer without the mark of an unbound volume that was to be made anew; written only if it has one. */
export async function unmark(peer: EtcdPeer, { kube, signal }: ActContext): Promise<EtcdPeer> {
  const { [replacingVolume]: mark, ...annotations } = peer.metadata.annotations ?? {};
  if (mark === undefined) return peer;
  return kube.update<EtcdPeer>(resources.peers, { ...peer, metadata: { ...peer.metadata, annotations } }, { signal });
}
