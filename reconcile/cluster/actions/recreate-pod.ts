import { podName } from '../../../manifests/build/names.ts';
import type { Pod } from '../../../manifests/kube-types.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { moved } from '../outcome.ts';
import { isReady } from '../pods.ts';
import { type ActContext, livePeer, preconditionsOf } from './context.ts';
import { clearToRun } from './going-back.ts';

/**
 * Deletes a pod that is not Ready; its volume and its member stay.
 *
 * Guards I1: read again just before, it is the pod that was looked at, and it is still not Ready. Guards I6: its template may say a lower
 * minor than it ran.
 */
export async function recreatePod(
  { pod: { name, uid } }: ActionOf<'recreate-pod'>,
  context: ActContext,
): Promise<void> {
  const { kube, cluster, signal } = context;
  const { namespace } = cluster.metadata;
  const [peer, pod] = await Promise.all([
    livePeer(context, name),
    kube.get<Pod>(resources.pods, namespace, podName(name), { signal }),
  ]);
  if (!pod || pod.metadata.uid !== uid || pod.metadata.deletionTimestamp !== undefined) return;
  if (isReady(pod)) throw moved(`${name} has become Ready`);
  await clearToRun(pod, peer, peer.spec.version, context);
  await kube.delete(resources.pods, namespace, podName(name), { preconditions: preconditionsOf(pod), signal });
}
