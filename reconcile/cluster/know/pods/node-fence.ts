import { podName } from '../../../../manifests/render/names.ts';
import type { Recovery } from '../../../../manifests/render/volume-record.ts';
import { endCure } from '../leftovers.ts';
import type { RecoveryView, Slot } from '../observation.ts';

/** A pod that is deleted by force from now on leaves no other trace of where it may still run. */
export function nodesWithPods(slots: readonly Slot[]): Recovery['lastSeenOn'] {
  return Object.fromEntries(slots.flatMap(({ name, pod }) => (pod?.node === undefined ? [] : [[name, [pod.node]]])));
}

/** Why a member may still run; `cure`: only a person can make sure that it does not. */
export interface OpenFence {
  readonly message: string;
  readonly cure?: string;
}

/**
 * Of all members that are seen, or were seen when the recovery began: also of those without objects in the API server.
 */
export function openFences(
  slots: readonly Slot[],
  { lastSeenOn }: Pick<Recovery, 'lastSeenOn'>,
  view: RecoveryView | undefined,
): readonly OpenFence[] {
  const names = new Set([...slots.map(({ name }) => name), ...Object.keys(lastSeenOn)]);
  return [...names].flatMap((name) => {
    const pod = slots.find((slot) => slot.name === name)?.pod;
    return fenceOf({ name, pod, seenOn: lastSeenOn[name] ?? [] }, view) ?? [];
  });
}

/**
 * Whether a pod of this member may still run; `undefined`: none can, or a person says so by deleting it by force.
 *
 * A pod that its kubelet has ended leaves the API server by that kubelet's own report. A pod that was deleted by force
 * leaves it as well, and its containers may run on where the API server does not hear: so every node where it was seen
 * must be there, or be gone, or be known to be off (Kubernetes' taint `out-of-service`, with which it releases pods and
 * volumes itself).
 */
function fenceOf(
  { name, pod, seenOn }: { readonly name: string; readonly pod: Slot['pod']; readonly seenOn: readonly string[] },
  view: RecoveryView | undefined,
): OpenFence | undefined {
  const nodes = view?.kind === 'known' ? view.nodes : {};
  const node = [pod?.node, ...seenOn].find((one) => one !== undefined && nodes[one] === 'silent');
  if (node !== undefined) {
    return {
      message: `${podName(name)} was seen on node ${node}, which does not report: it may still run there`,
      cure: endCure({}, podName(name), node),
    };
  }
  if (pod)
    return {
      message: `waiting until kubelet reports the end of ${podName(name)}; deleted by force it would count as ended, and its etcd could run on`,
    };
  return undefined;
}
