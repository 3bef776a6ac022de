import { podName } from '../../../manifests/build/names.ts';
import type { PersistentVolumeClaim, Pod } from '../../../manifests/kube-types.ts';
import { resources } from '../../kube.ts';
import type { ActionOf, Ref } from '../actions.ts';
import { moved } from '../outcome.ts';
import { type ActContext, preconditionsOf } from './context.ts';

/**
 * Deletes volumes of a cluster that is itself being deleted, or such as were never bound.
 *
 * Guards I4. Each is read again: it must be the one that was decided about, no pod may have it open, and where the cluster
 * lives on it must still be unbound. The resourceVersion closes the gap between that look and the deletion.
 */
export async function deleteVolumes({ volumes }: ActionOf<'delete-volumes'>, context: ActContext): Promise<void> {
  for (const volume of volumes) await deleteVolume(volume, context);
}

async function deleteVolume({ name, uid }: Ref, { kube, cluster, signal }: ActContext): Promise<void> {
  const { namespace, deletionTimestamp } = cluster.metadata;
  const claim = await kube.get<PersistentVolumeClaim>(resources.volumeClaims, namespace, name, { signal });
  if (!claim || claim.metadata.uid !== uid) return;
  if (deletionTimestamp === undefined && claim.spec.volumeName)
    throw moved(`volume ${name} has been bound since it was looked at`);
  const pod = await kube.get<Pod>(resources.pods, namespace, podName(name), { signal });
  if (pod && deletionTimestamp !== undefined) throw moved(`pod ${podName(name)} still has volume ${name}`);
  await kube.delete(resources.volumeClaims, namespace, name, { preconditions: preconditionsOf(claim), signal });
}
