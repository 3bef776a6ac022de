import type { Node } from '../../../manifests/kube-types.ts';
import { type Kube, KubeError, resources } from '../../interfaces/kube.ts';
import type { NodeState, NodeView } from '../know/observation.ts';

/**
 * Every Node object, by name; `undefined`: they cannot be read, as in an installation for one namespace, or none
 * exists.
 *
 * Without a single Node object (as while all of them are recreated) the list proves nothing about a certain one.
 */
export async function readNodes(
  kube: Kube,
  signal: AbortSignal,
): Promise<Readonly<Record<string, NodeView>> | undefined> {
  try {
    const { items } = await kube.list<Node>(resources.nodes, { signal });
    if (items.length === 0) return undefined;
    return Object.fromEntries(items.map((node) => [node.metadata.name, nodeView(node)]));
  } catch (error) {
    // No answer is no reason to stop what does not need it.
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}

function nodeView(node: Node): NodeView {
  return {
    state: stateOfNode(node),
    labels: node.metadata.labels ?? {},
    schedulable: node.spec?.unschedulable !== true,
  };
}

export function stateOfNode({ spec, status }: Node): Exclude<NodeState, 'gone' | 'unknown'> {
  if (spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/out-of-service')) return 'outOfService';
  return status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ? 'ready' : 'silent';
}
