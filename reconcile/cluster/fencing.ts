import { podName } from '../../manifests/build/names.ts';
import type { Recovery } from '../../manifests/build/volume-record.ts';
import type { RecoveryView, Slot } from './observation.ts';

/** Why a member may still run; `cure`: only a person can see to it that it does not. */
export interface OpenFence {
  readonly message: string;
  readonly cure?: string;
}

/**
 * Whether nothing of this member can still run; `undefined`: nothing can.
 *
 * A pod that its kubelet has ended leaves the API server by that kubelet's own word. One that was deleted by force leaves it as
 * well, and its containers may run on where the API server does not hear: so the node where it was seen last must be there, or
 * be gone, or be known to be off (Kubernetes' taint `out-of-service`, with which it lets go of pods and volumes itself).
 */
export function fenceOf(
  { name, pod }: Slot,
  { lastSeenOn }: Recovery,
  view: RecoveryView | undefined,
): OpenFence | undefined {
  const node = pod?.node ?? lastSeenOn[name];
  const state = (node !== undefined && view?.kind === 'known' && view.nodes[node]) || 'unknown';
  if (state === 'silent' && node !== undefined) {
    return {
      message: `${podName(name)} was last seen on node ${node}, which is not heard: it may still run there`,
      cure: `bring ${node} back; or, when it is certainly off, say so: kubectl taint nodes ${node} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute`,
    };
  }
  if (pod) return { message: `waiting for ${podName(name)} to end, as its kubelet says it` };
  return undefined;
}
