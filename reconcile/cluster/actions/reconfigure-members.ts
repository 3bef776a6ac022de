import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import { podName } from '../../../manifests/build/names.ts';
import type { Pod, StatefulSet } from '../../../manifests/kube-types.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import type { Inputs } from '../effective.ts';
import { moved } from '../outcome.ts';
import { isReady, revisionOf } from '../pods.ts';
import { type ActContext, livePeer, preconditionsOf } from './context.ts';
import { clearToRun } from './going-back.ts';
import { updatePeer, updateStatefulSet } from './member-template.ts';

/**
 * Gives members that are not Ready the effective configuration: peer, then StatefulSet, then the pod goes.
 *
 * Guards I1: a pod that has become Ready meanwhile is left alone; the next step sees what to do. Deleted with UID and
 * resourceVersion, not evicted: a pod that is not Ready serves nobody, and a budget without quorum would protect it forever.
 */
export async function reconfigureMembers(
  { peers, inputs }: ActionOf<'reconfigure-members'>,
  context: ActContext,
): Promise<void> {
  for (const { name, uid } of peers) {
    const found = await livePeer(context, name);
    if (found.metadata.uid !== uid) throw moved(`peer ${name} was made anew`);
    await assertStillDue(found, inputs, context);
    const peer = await updatePeer(found, inputs, context);
    const set = await updateStatefulSet(peer, context);
    if (set) await restartIfNotReady(set, peer, context);
  }
}

/**
 * Time has passed since the decision. A pod that became Ready on its template has nothing to be cured of; and what has started
 * since may have written data that a lower minor must not open (I6).
 */
async function assertStillDue(peer: EtcdPeer, { version }: Inputs, context: ActContext): Promise<void> {
  const { kube, signal } = context;
  const { namespace, name } = peer.metadata;
  const [set, pod] = await Promise.all([
    kube.get<StatefulSet>(resources.statefulSets, namespace, name, { signal }),
    kube.get<Pod>(resources.pods, namespace, podName(name), { signal }),
  ]);
  if (!pod) return;
  await clearToRun(pod, peer, version, context);
  if (isReady(pod) && revisionOf(pod) === set?.status?.updateRevision) throw moved(`${name} has become Ready since`);
}

async function restartIfNotReady(set: StatefulSet, peer: EtcdPeer, context: ActContext): Promise<void> {
  const { kube, signal } = context;
  const { namespace, name } = set.metadata;
  const pod = await kube.get<Pod>(resources.pods, namespace, podName(name), { signal });
  if (!pod?.metadata.uid || pod.metadata.deletionTimestamp !== undefined) return;
  if (revisionOf(pod) === set.status?.updateRevision || isReady(pod)) return;
  await clearToRun(pod, peer, peer.spec.version, context);
  await kube.delete(resources.pods, namespace, podName(name), { preconditions: preconditionsOf(pod), signal });
}
