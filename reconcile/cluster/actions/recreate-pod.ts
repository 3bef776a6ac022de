import { podName } from '../../../manifests/build/names.ts';
import type { Pod } from '../../../manifests/kube-types.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { moved } from '../outcome.ts';
import { isReady } from '../pods.ts';
import { type ActContext, preconditionsOf } from './context.ts';

/**
 * Deletes a pod that is not Ready; its volume and its member stay.
 *
 * Guards I1: read again just before, it is the pod that was looked at, and it is still not Ready.
 */
export async function recreatePod(
  { pod: { name, uid } }: ActionOf<'recreate-pod'>,
  { kube, cluster, signal }: ActContext,
): Promise<void> {
  const { namespace } = cluster.metadata;
  const pod = await kube.get<Pod>(resources.pods, namespace, podName(name), { signal });
  if (!pod || pod.metadata.uid !== uid || pod.metadata.deletionTimestamp !== undefined) return;
  if (isReady(pod)) throw moved(`${name} has become Ready`);
  await kube.delete(resources.pods, namespace, podName(name), { preconditions: preconditionsOf(pod), signal });
}
