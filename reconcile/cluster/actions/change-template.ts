import { podName } from '../../../manifests/build/names.ts';
import type { Pod } from '../../../manifests/kube-types.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { moved } from '../outcome.ts';
import { type ActContext, livePeer } from './context.ts';
import { clearToRun } from './going-back.ts';
import { updatePeer, updateStatefulSet } from './member-template.ts';

/**
 * Gives one member's StatefulSet the effective configuration. Its pod stays (`OnDelete`) until `finish-rolling` lets it go.
 *
 * Guards I6: a lower minor than its pod runs only where that may go back.
 */
export async function changeTemplate(
  { peer, inputs }: ActionOf<'change-template'>,
  context: ActContext,
): Promise<void> {
  const { kube, cluster, signal } = context;
  const found = await livePeer(context, peer.name);
  if (found.metadata.uid !== peer.uid) throw moved(`peer ${peer.name} was made anew`);
  const pod = await kube.get<Pod>(resources.pods, cluster.metadata.namespace, podName(peer.name), { signal });
  await clearToRun(pod, found, inputs.version, context);
  await updateStatefulSet(await updatePeer(found, inputs, context), context);
}
