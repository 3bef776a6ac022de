import type { EtcdNodePolicy } from '../../manifests/api/etcd-node-policy.ts';
import type { Node } from '../../manifests/kube-types.ts';
import { KubeError, resources } from '../interfaces/kube.ts';
import { ownImage } from '../jobs/own-image.ts';
import { foreseeNodes, type NodePlan } from './foresee.ts';
import { type NodesContext, observeNodes } from './observe.ts';
import { orphanNote, orphansAmong, release } from './orphans.ts';
import { notLookedAt } from './reasons.ts';
import { type NodePolicyResult, stepNodePolicy } from './step.ts';

type PlanNodesContext = Omit<NodesContext, 'dryRun'>;

/** After a step that failed, in seconds. */
const retrySeconds = 5;

/**
 * One step for each node policy in turn, so that each sees what earlier ones have begun, with a LIST of nodes for each.
 * A failure ends it: clusters wait for no node.
 * @param policies listed first: the lock on their versions proves that nothing else is older
 */
export async function stepNodePolicies(
  policies: readonly EtcdNodePolicy[],
  context: NodesContext,
): Promise<readonly NodePolicyResult[]> {
  const { kube, signal, log } = context;
  const image = () => ownImage(kube, context.holder, signal);
  const results: NodePolicyResult[] = [];
  try {
    await releaseOrphans(policies, context);
    for (const { metadata } of policies.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
      const { items: now } = await kube.list<EtcdNodePolicy>(resources.nodePolicies, { signal });
      const { items: nodes } = await kube.list<Node>(resources.nodes, { signal });
      const policy = now.find((one) => one.metadata.uid === metadata.uid);
      if (!policy) continue;
      const result = await stepOne(policy, { nodes, policies: now }, { ...context, image });
      log({ nodePolicy: result.name, reason: result.reason, outcome: result.outcome }, result.message);
      results.push(result);
    }
    return results;
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    log({ problem: error.message }, notLookedAt(error));
    return results;
  }
}

/** Before the steps: what is rid of its marks makes room. */
async function releaseOrphans(policies: readonly EtcdNodePolicy[], context: NodesContext): Promise<void> {
  const { kube, signal, log, dryRun } = context;
  const { items: nodes } = await kube.list<Node>(resources.nodes, { signal });
  const at = kube.now() ?? new Date();
  for (const node of orphansAmong(nodes, policies, at)) {
    const outcome = dryRun ? 'none' : 'acted';
    log({ node: node.metadata.name, reason: 'PolicyGone', outcome }, orphanNote(node));
    const id = `${at.getTime().toString(16)}${context.nonce().slice(0, 8)}`;
    if (!dryRun) await release(kube, node, { at, id, signal });
  }
}

async function stepOne(
  policy: EtcdNodePolicy,
  lists: Parameters<typeof stepNodePolicy>[1],
  context: Parameters<typeof stepNodePolicy>[2],
): Promise<NodePolicyResult> {
  const { name } = policy.metadata;
  try {
    return await stepNodePolicy(policy, lists, context);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const { reason, message } = error;
    return { name, reason, message, outcome: 'failed', workRemains: true, afterSeconds: retrySeconds };
  }
}

/**
 * What would be done for each node policy: reads, and writes nothing.
 * @param asked policies to come: in place of those of their names, and beside the others
 * @throws {KubeError}
 */
export async function planNodePolicies(
  context: PlanNodesContext,
  asked: readonly EtcdNodePolicy[] = [],
): Promise<readonly NodePlan[]> {
  const { kube, signal } = context;
  const { items: live } = await kube.list<EtcdNodePolicy>(resources.nodePolicies, { signal });
  const names = new Set(asked.map(({ metadata }) => metadata.name));
  const policies = [
    ...live.filter(({ metadata }) => !names.has(metadata.name)),
    ...asked.map((one) => asLive(one, live)),
  ];
  if (policies.length === 0) return [];
  const { items: nodes } = await kube.list<Node>(resources.nodes, { signal });
  const plans: NodePlan[] = [];
  for (const policy of policies.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
    const { seen } = await observeNodes({ ...context, dryRun: true }, policy, { nodes, policies });
    plans.push(foreseeNodes(seen));
  }
  return plans;
}

/** What has begun goes on. */
function asLive({ metadata, spec, ...rest }: EtcdNodePolicy, live: readonly EtcdNodePolicy[]): EtcdNodePolicy {
  const found = live.find((one) => one.metadata.name === metadata.name);
  return found ? { ...found, spec } : { ...rest, metadata: { ...metadata, uid: `new-${metadata.name}` }, spec };
}
