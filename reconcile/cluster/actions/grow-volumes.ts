import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import { parseQuantity } from '../../../manifests/api/quantity.ts';
import type { PersistentVolumeClaim } from '../../../manifests/kube-types.ts';
import { KubeError, resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { needsPerson } from '../outcome.ts';
import { type ActContext, livePeer, liveVolume } from './context.ts';

/** Asks for larger volumes. The storage driver does the rest, while the member runs. @throws {StepError} */
export async function growVolumes({ volumes }: ActionOf<'grow-volumes'>, context: ActContext): Promise<void> {
  for (const { name, uid, size } of volumes) {
    const { claim } = await liveVolume(context, name);
    if (claim.metadata.uid !== uid) continue;
    const requests = claim.spec.resources.requests ?? {};
    if (parseQuantity(requests.storage ?? 0) < parseQuantity(size)) await grow(claim, size, context);
    await recordSize(await livePeer(context, name), size, context);
  }
}

async function grow(claim: PersistentVolumeClaim, size: string, { kube, signal }: ActContext): Promise<void> {
  const { resources: wishes } = claim.spec;
  const spec = { ...claim.spec, resources: { ...wishes, requests: { ...wishes.requests, storage: size } } };
  try {
    await kube.update<PersistentVolumeClaim>(resources.volumeClaims, { ...claim, spec }, { signal });
  } catch (error) {
    if (!(error instanceof KubeError) || error.class !== 'terminal') throw error;
    throw needsPerson(
      'VolumeCannotGrow',
      `volume ${claim.metadata.name} can not grow to ${size}: its storage class does not allow it, or the API server says no (${error.message}). To go on: set allowVolumeExpansion on StorageClass ${claim.spec.storageClassName}, raise the ResourceQuota, or set spec.storage.size back`,
    );
  }
}

async function recordSize(peer: EtcdPeer, size: string, { kube, signal }: ActContext): Promise<void> {
  if (peer.spec.storage.size === size) return;
  const spec = { ...peer.spec, storage: { ...peer.spec.storage, size } };
  await kube.update<EtcdPeer>(resources.peers, { ...peer, spec }, { signal });
}
