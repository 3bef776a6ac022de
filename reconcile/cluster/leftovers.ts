import { podName } from '../../manifests/build/names.ts';
import { hasDeparted } from './life.ts';
import type { Slot } from './observation.ts';

/**
 * Whether something of an earlier resource, or of somebody else, bears this member's name still. Then the member is not started: its old pod
 * may still write to the volume that a new one would open (I5). The others do not wait for it.
 *
 * What is left of a removed member stands in nobody's way: its name is not used again while anything bears it.
 */
export function isHeldBack(slot: Slot): boolean {
  return !hasDeparted(slot) && (foreignOf(slot) !== undefined || isBeingCollected(slot));
}

/** Also a member that is not started because of what an earlier resource left: it is down, and its time counts. */
export function isToBeTold(slot: Slot): boolean {
  return slot.peer?.current === true || isHeldBack(slot);
}

/** What bears our labels, and none of our resources controls: nobody collects it. */
export function foreignOf({ name, peer, configMap, statefulSet }: Slot): string | undefined {
  if (peer?.foreign) return `an EtcdPeer ${name}`;
  if (configMap?.foreign) return `a ConfigMap ${name}`;
  return statefulSet?.foreign ? `a StatefulSet ${name}` : undefined;
}

export const foreignCure =
  'if nothing needs it, delete it (no volume goes with it); else make it again under another name and without the etcd.ratchet.dev labels';

function isBeingCollected({ peer, volume, configMap, statefulSet, pod }: Slot): boolean {
  // It goes with the claim that is gone, and nobody makes another one there.
  const goesAlone = peer?.current && peer.replacingVolume === undefined && !volume && configMap?.leaving === false;
  return (
    isLeftover(peer) ||
    (isLeftover(configMap) && !goesAlone) ||
    isLeftover(statefulSet) ||
    (pod !== undefined && statefulSet === undefined && peer === undefined)
  );
}

function isLeftover(view: { readonly current: boolean; readonly leaving: boolean } | undefined): boolean {
  return view !== undefined && (!view.current || view.leaving);
}

/** What is left, in words: the pod first, which the rest may only be waiting for. */
export function leftoverIn({ name, pod }: Slot): string {
  if (!pod) return `objects named ${name} of an earlier resource are still being collected`;
  return `${podOnNode(name, pod)} of an earlier resource is still there`;
}

/** What a person can do about a pod that does not end, or about objects that do not go. */
export function cureOf({ name, pod }: Slot): string {
  if (!pod)
    return `kubectl get etcdpeers.etcd.ratchet.dev,configmaps,statefulsets ${name} -o yaml shows which finalizers keep them: see to what each waits for, or remove it`;
  if (!pod.leaving) return `if nothing needs it: kubectl delete pod ${podName(name)}`;
  if (pod.node === undefined) return `kubectl describe pod ${podName(name)} says what keeps it`;
  return `bring node ${pod.node} back, or delete its Node object; or, when it is certainly off, say so: kubectl taint nodes ${pod.node} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute`;
}

export function podOnNode(name: string, { node }: NonNullable<Slot['pod']>): string {
  return node === undefined ? `pod ${podName(name)}` : `pod ${podName(name)} on node ${node}`;
}
