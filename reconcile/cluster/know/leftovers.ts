import { kubectl } from '../../../manifests/render/kubectl.ts';
import { podName } from '../../../manifests/render/names.ts';
import { hasDeparted } from './life.ts';
import type { Slot } from './observation.ts';

/**
 * Whether an object of an earlier resource, or of another owner, still has this member's name. Then the member does not
 * start: its old pod may still write to the volume that a new one would open (I5). The others do not wait for it.
 *
 * Objects of a removed member hold up no other: its name is not used again while any object has it.
 */
export function isBlockedByLeftovers(slot: Slot): boolean {
  return !hasDeparted(slot) && (foreignOf(slot) !== undefined || isBeingCollected(slot));
}

/** Also a member that does not start because of objects of an earlier resource: it is down, and its time counts. */
export function isReported(slot: Slot): boolean {
  return slot.peer?.current === true || isBlockedByLeftovers(slot);
}

/** An object with our labels that none of our resources controls: it is never garbage collected. */
export function foreignOf({ name, peer, configMap, statefulSet }: Slot): string | undefined {
  if (peer?.foreign) return `an EtcdPeer ${name}`;
  if (configMap?.foreign) return `a ConfigMap ${name}`;
  return statefulSet?.foreign ? `a StatefulSet ${name}` : undefined;
}

export const foreignCure =
  'if nothing needs it, delete it (no volume is deleted with it); else recreate it under another name and without the etcd.ratchet.dev labels';

function isBeingCollected({ peer, volume, configMap, statefulSet, pod }: Slot): boolean {
  // It is being deleted with the PVC that is gone, and no other one is made there.
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

/** The leftovers in words: the pod first, because the rest may only be waiting for it. */
export function leftoverIn({ name, pod }: Slot): string {
  if (!pod) return `objects named ${name} of an earlier resource are still being garbage collected`;
  return `${podOnNode(name, pod)} of an earlier resource still exists`;
}

/** What a person can do about a pod that does not end, or about objects that are not deleted. */
export function cureOf(slot: Slot): string {
  const { name, pod } = slot;
  if (!pod)
    return `see which finalizers keep them: ${kubectl(slot, `get etcdpeers.etcd.ratchet.dev,configmaps,statefulsets ${name} -o yaml`)}; resolve what each waits for, or remove it`;
  if (!pod.leaving) return `if nothing needs it: ${kubectl(slot, `delete pod ${podName(name)}`)}`;
  return endCure(slot, podName(name), pod.node);
}

/** What a person can do about a pod that was told to end and does not. */
export function endCure(
  where: { readonly namespace?: string | undefined },
  pod: string,
  node: string | undefined,
): string {
  if (node === undefined) return `see what keeps it: ${kubectl(where, `describe pod ${pod}`)}`;
  return `bring node ${node} back, or delete its Node object; or, when it is certainly off, say so: kubectl taint nodes ${node} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute`;
}

export function podOnNode(name: string, { node }: NonNullable<Slot['pod']>): string {
  return node === undefined ? `pod ${podName(name)}` : `pod ${podName(name)} on node ${node}`;
}
