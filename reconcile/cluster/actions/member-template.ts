import { setTimeout as pause } from 'node:timers/promises';
import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import { isHigher } from '../../../manifests/api/version.ts';
import { isControlledBy } from '../../../manifests/build/owner-reference.ts';
import type { Offered } from '../../../manifests/build/pod-template.ts';
import { statefulSet } from '../../../manifests/build/stateful-set.ts';
import type { StatefulSet } from '../../../manifests/kube-types.ts';
import { resources } from '../../kube.ts';
import type { Inputs } from '../effective.ts';
import { moved } from '../outcome.ts';
import type { ActContext } from './context.ts';
import { noteNextVersion } from './note-versions.ts';
import { offeredToMembers } from './offered.ts';

/** What a member's next pod is made from: its peer, and from that its StatefulSet. */

/**
 * The peer's spec holds all inputs of its member; its volume is told first of a version that it never ran. Of a lower one than the peer was
 * told before there is nothing to tell: so that can be taken back where the claim is being deleted, which takes no annotation.
 */
export async function updatePeer(peer: EtcdPeer, inputs: Inputs, context: ActContext): Promise<EtcdPeer> {
  const { kube, signal } = context;
  await tryOut(withInputs(peer, inputs), context);
  if (isHigher(inputs.version, peer.spec.version)) await noteNextVersion(peer.metadata.name, inputs.version, context);
  return kube.update<EtcdPeer>(resources.peers, withInputs(peer, inputs), { signal });
}

function withInputs(peer: EtcdPeer, inputs: Inputs): EtcdPeer {
  const { clusterName, ordinal, bootstrap } = peer.spec;
  return { ...peer, spec: { clusterName, ordinal, bootstrap, ...inputs } };
}

/** Before anything is told of it: a template that the API server does not take must leave every member as it is. */
async function tryOut(peer: EtcdPeer, context: ActContext): Promise<void> {
  const { kube, signal } = context;
  const { namespace, name, uid = '' } = peer.metadata;
  const found = await kube.get<StatefulSet>(resources.statefulSets, namespace, name, { signal });
  if (!found || !isControlledBy(found, uid)) return;
  const wanted = retemplated(found, peer, await offeredToMembers(context));
  await kube.dryRun(resources.statefulSets, wanted, { signal });
}

function retemplated(found: StatefulSet, peer: EtcdPeer, offered: Offered): StatefulSet {
  const wanted = statefulSet(peer, offered);
  const annotations = { ...found.metadata.annotations, ...wanted.metadata.annotations };
  return {
    ...found,
    metadata: { ...found.metadata, annotations },
    spec: { ...found.spec, template: wanted.spec.template },
  };
}

/** @returns the StatefulSet once its controller has seen the new template; `undefined` when the peer has none. */
export async function updateStatefulSet(peer: EtcdPeer, context: ActContext): Promise<StatefulSet | undefined> {
  const { kube, signal } = context;
  const { namespace, name, uid = '' } = peer.metadata;
  const found = await kube.get<StatefulSet>(resources.statefulSets, namespace, name, { signal });
  if (!found || !isControlledBy(found, uid)) return undefined;
  const wanted = retemplated(found, peer, await offeredToMembers(context));
  const updated = await kube.update<StatefulSet>(resources.statefulSets, wanted, { signal });
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
