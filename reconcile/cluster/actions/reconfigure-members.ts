import { setTimeout as pause } from 'node:timers/promises';
import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import { podName } from '../../../manifests/build/names.ts';
import { isControlledBy } from '../../../manifests/build/owner-reference.ts';
import { statefulSet } from '../../../manifests/build/stateful-set.ts';
import type { Pod, StatefulSet } from '../../../manifests/kube-types.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import type { Inputs } from '../effective.ts';
import { moved } from '../outcome.ts';
import { isReady, ranHigherThan, revisionOf } from '../pods.ts';
import { type ActContext, livePeer } from './context.ts';

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
    if (set) await restartIfNotReady(set, inputs, context);
  }
}

/**
 * Time has passed since the decision. A pod that became Ready on its template has nothing to be cured of; and what has started
 * since may have written data that a lower version must not open (I6).
 */
async function assertStillDue({ metadata }: EtcdPeer, { version }: Inputs, context: ActContext): Promise<void> {
  const { kube, signal } = context;
  const { namespace, name } = metadata;
  const [set, pod] = await Promise.all([
    kube.get<StatefulSet>(resources.statefulSets, namespace, name, { signal }),
    kube.get<Pod>(resources.pods, namespace, podName(name), { signal }),
  ]);
  if (!pod) return;
  if (ranHigherThan(pod, version)) throw moved(`${name} has started on a higher version than ${version} since`);
  if (isReady(pod) && revisionOf(pod) === set?.status?.updateRevision) throw moved(`${name} has become Ready since`);
}

async function updatePeer(peer: EtcdPeer, inputs: Inputs, { kube, signal }: ActContext): Promise<EtcdPeer> {
  const { clusterName, ordinal, bootstrap } = peer.spec;
  return kube.update<EtcdPeer>(
    resources.peers,
    { ...peer, spec: { clusterName, ordinal, bootstrap, ...inputs } },
    { signal },
  );
}

async function updateStatefulSet(peer: EtcdPeer, context: ActContext): Promise<StatefulSet | undefined> {
  const { kube, signal } = context;
  const { namespace, name, uid = '' } = peer.metadata;
  const found = await kube.get<StatefulSet>(resources.statefulSets, namespace, name, { signal });
  if (!found || !isControlledBy(found, uid)) return undefined;
  const wanted = statefulSet(peer);
  const annotations = { ...found.metadata.annotations, ...wanted.metadata.annotations };
  const updated = await kube.update<StatefulSet>(
    resources.statefulSets,
    { ...found, metadata: { ...found.metadata, annotations }, spec: { ...found.spec, template: wanted.spec.template } },
    { signal },
  );
  return observed(updated, context);
}

/** A pod that is made before the controller has seen the new template would get the old one. Bounded by the signal. */
async function observed(set: StatefulSet, { kube, signal }: ActContext): Promise<StatefulSet> {
  const { namespace, name, generation = 0 } = set.metadata;
  for (let current = set; ; ) {
    if ((current.status?.observedGeneration ?? 0) >= generation) return current;
    await pause(50, undefined, { signal });
    const again = await kube.get<StatefulSet>(resources.statefulSets, namespace, name, { signal });
    if (again?.metadata.uid !== set.metadata.uid || again === undefined) throw moved(`StatefulSet ${name} has gone`);
    current = again;
  }
}

async function restartIfNotReady(set: StatefulSet, { version }: Inputs, { kube, signal }: ActContext): Promise<void> {
  const { namespace, name } = set.metadata;
  const pod = await kube.get<Pod>(resources.pods, namespace, podName(name), { signal });
  if (!pod?.metadata.uid || pod.metadata.deletionTimestamp !== undefined) return;
  if (revisionOf(pod) === set.status?.updateRevision || isReady(pod)) return;
  if (ranHigherThan(pod, version)) throw moved(`${name} has started on a higher version than ${version} since`);
  const { uid, resourceVersion } = pod.metadata;
  await kube.delete(resources.pods, namespace, podName(name), {
    preconditions: { uid, ...(resourceVersion !== undefined && { resourceVersion }) },
    signal,
  });
}
