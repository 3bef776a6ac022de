import { setTimeout as pause } from 'node:timers/promises';
import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import { volumeClaim } from '../../../manifests/build/volume-claim.ts';
import type { PersistentVolumeClaim } from '../../../manifests/kube-types.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { replacingVolume } from '../marks.ts';
import { moved } from '../outcome.ts';
import { type ActContext, livePeer, liveVolume, preconditionsOf } from './context.ts';
import { noteFirstStart } from './first-start.ts';
import { unmark } from './replacing-mark.ts';

/**
 * Makes a volume anew that was never bound, under the same record, as the spec now asks.
 *
 * The peer is marked first: a crash after the deletion then looks like what it is, not like the loss of a volume that held
 * data. The resourceVersion makes the deletion fail when the volume is bound in the last moment.
 */
export async function replaceUnboundVolume(
  { volume, storage }: ActionOf<'replace-unbound-volume'>,
  context: ActContext,
): Promise<void> {
  const { kube, cluster, signal } = context;
  const { namespace } = cluster.metadata;
  const { claim, record } = await liveVolume(context, volume.name);
  if (claim.metadata.uid !== volume.uid || claim.spec.volumeName || record.state !== 'bootstrapping') {
    throw moved(`volume ${volume.name} is no longer the unbound one that was looked at`);
  }
  const marked = await mark(await livePeer(context, volume.name), volume.uid, storage, context);
  await kube.delete(resources.volumeClaims, namespace, volume.name, { preconditions: preconditionsOf(claim), signal });
  await gone(volume, context);
  await kube.create<PersistentVolumeClaim>(resources.volumeClaims, volumeClaim(marked, record), { signal });
  // Its pod may be waiting for it.
  await noteFirstStart(await liveVolume(context, volume.name), context);
  await unmark(await livePeer(context, volume.name), context);
}

async function mark(
  peer: EtcdPeer,
  uid: string,
  storage: EtcdPeer['spec']['storage'],
  { kube, signal }: ActContext,
): Promise<EtcdPeer> {
  const annotations = { ...peer.metadata.annotations, [replacingVolume]: uid };
  return kube.update<EtcdPeer>(
    resources.peers,
    { ...peer, metadata: { ...peer.metadata, annotations }, spec: { ...peer.spec, storage } },
    { signal },
  );
}

/** A claim that a pod waits for stays Terminating until the pod lets go. Bounded by the signal. */
async function gone(
  { name, uid }: { readonly name: string; readonly uid: string },
  { kube, cluster, signal }: ActContext,
): Promise<void> {
  for (;;) {
    const found = await kube.get<PersistentVolumeClaim>(resources.volumeClaims, cluster.metadata.namespace, name, {
      signal,
    });
    if (found?.metadata.uid !== uid) return;
    await pause(100, undefined, { signal });
  }
}
