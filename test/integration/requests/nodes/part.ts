import type { EtcdNodePolicy } from '../../../../manifests/api/etcd-node-policy.ts';
import type { Node } from '../../../../manifests/kube-types.ts';
import { connectEtcd } from '../../../../reconcile/clients/etcd.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import type { NodeSeen } from '../../../../reconcile/nodes/observation.ts';
import { observeNodes } from '../../../../reconcile/nodes/observe.ts';
import { nodeRequests, runNodeAction } from '../../../../reconcile/nodes/requests/all.ts';
import type { NodeSubject } from '../../../../reconcile/nodes/requests/request.ts';
import { type Sim, simHost } from '../../../../reconcile/nodes/sim-host.ts';
import type { Part } from '../part.ts';
import { makeNodesScene, type NodesScene, rebootsIn } from './scene.ts';

/** Requests about nodes that reboot. */
export const nodesPart: Part<NodeSubject, NodesScene, Sim> = {
  requests: nodeRequests,
  makeScene: makeNodesScene,
  start: async () => {},
  look: async ({ kube, node, policy }) => {
    const signal = AbortSignal.timeout(20_000);
    const holder = { pod: 'contract/test', uid: 'contract' };
    const [found, own] = await Promise.all([
      kube.get<Node>(resources.nodes, undefined, node, { signal }),
      kube.get<EtcdNodePolicy>(resources.nodePolicies, undefined, policy, { signal }),
    ]);
    if (!found || !own) throw new Error(`${node} or its policy is gone`);
    const context = {
      ...{ kube, signal, holder, dryRun: false, rebootsIn, log: () => {} },
      ...{ etcd: async () => connectEtcd(), wire: async () => undefined, nonce: () => 'nonce' },
    };
    const observed = await observeNodes(context, own, { nodes: [found], policies: [own] });
    return {
      state: { seen: observed.seen, away: new Map(), grants: 0 },
      runLive: (program, live, until) =>
        runNodeAction(program, {
          ...{ kube: live, observed, holder, signal: until, rebootsIn },
          image: async () => 'etcd-ratchet',
          deadline: performance.now() + 20_000,
        }),
    };
  },
  host: (stale) => ({ ...simHost, isCurrent: (object) => !stale.has(namedIn(object)) }),
  told: ({ seen: { policy, nodes, clusters } }) => ({
    grants: policy.status?.grants ?? [],
    nodes: Object.fromEntries(nodes.map((node) => [node.name, ofNode(node)])),
    leaders: clusters.flatMap(({ key, members }) =>
      members.flatMap(({ name, leads }) => (leads ? [`${key}: ${name}`] : [])),
    ),
    held: clusters.flatMap(({ key, busy }) => (busy?.kind === 'held' ? [key] : [])),
  }),
  hasEtcd: ({ seen }) => seen.clusters.some(({ clusterId }) => clusterId !== undefined),
};

/** As contracts name it. */
function namedIn(object: string): string {
  if (object === 'policy') return 'policy/policy';
  return object.includes('/') ? 'cluster/cluster' : 'node/node';
}

function ofNode({ marks, unschedulable, needed, pods = [], job }: NodeSeen) {
  const here = pods.flatMap(({ name, leaving }) => (leaving ? [] : [name]));
  const words = Object.fromEntries(Object.entries(marks).map(([mark, { word }]) => [mark, word]));
  return { words, unschedulable, needed, pods: here.toSorted(), job };
}
