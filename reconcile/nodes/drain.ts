import type { EtcdNodePolicySpec } from '../../manifests/api/etcd-node-policy.ts';
import { nodePolicyDefaults } from '../../manifests/api/spec-defaults.ts';
import { type Begun, doing, outOf, putOff, saying } from './begun.ts';
import { drainTimeoutOf, type NodeVerdict, rebootTimeoutOf, unmanagedAmong } from './decision.ts';
import { busyNow, leadersToMove, twoThere, whileAway, withoutNode } from './etcd.ts';
import type { Mark } from './marks.ts';
import type { NodeSeen, PodSeen } from './observation.ts';
import type { NodeReason } from './reasons.ts';

/** How one node gets empty. Pure. */

/** Others leave first: etcd runs with one member less only for as long as the reboot takes. */
export function drain(seen: Begun, since: Mark): NodeVerdict {
  const { all, node, grant } = seen;
  const { pods } = node;
  if (pods === undefined) return saying(seen, 'Draining', 'could not be looked at');
  const leaving = mustLeave(node, all.policy.spec);
  const others = leaving.filter(({ kind }) => kind !== 'member');
  const objection = others.length > 0 ? unmanagedAmong(others, all.policy.spec) : objectionToDrain(seen, leaving);
  const late = outOf(seen, since, drainTimeoutOf(all.policy.spec));
  // Pods end on a node that answers, and on no other: a person must look at it.
  if (late && !node.ready && leaving.length > 0 && leaving.every((one) => one.leaving))
    return saying(seen, 'NodeNotBack', `is not Ready, and its pods do not end: ${stuckOn(leaving)}`);
  // Without an objection an empty node is a matter of moments: it is brought to its end. But its order may be refused.
  const longest = drainTimeoutOf(all.policy.spec) + rebootTimeoutOf(all.policy.spec);
  if (leaving.length === 0 && outOf(seen, since, longest))
    return putOff(seen, 'RebootNotBegun', 'it is empty, and could not be told to reboot');
  if (late && (objection || leaving.length > 0)) return putOff(seen, 'DrainTimedOut', stuckOn(leaving));
  if (objection) return saying(seen, objection.reason, objection.message);
  const blocking = pods.find((one) => one.blocks && !one.leaving && one.kind !== 'stays' && one.kind !== 'member');
  if (blocking) return saying(seen, 'BlockingPod', `waits for pod ${blocking.namespace}/${blocking.name} to end`);
  if (others.length > 0) return evict(seen, others, 'Draining');
  if (leaving.length === 0)
    return doing(seen, 'Rebooting', 'is empty, and is told to reboot', { kind: 'order', grant });
  const begun = [...(all.policy.status?.grants ?? []), ...(all.ofOthers ?? [])];
  const moves = leadersToMove(all.clusters, node.name, new Set([node.name, ...begun.map((one) => one.node)]));
  if (moves.length > 0) {
    const words = moves.map(({ cluster, name }) => `${cluster} to ${name}`).join(', ');
    return doing(seen, 'MovingLeaders', `hands leadership over: ${words}`, {
      kind: 'move-leaders',
      id: grant.id,
      moves,
    });
  }
  return evict(seen, leaving, 'EvictingMembers');
}

/** Members always leave, so that their clusters know. The others end with the node, where the policy says so. */
export function mustLeave({ pods = [] }: NodeSeen, spec: EtcdNodePolicySpec): readonly PodSeen[] {
  const { skipDrain = nodePolicyDefaults.skipDrain } = spec;
  return pods.filter(({ kind }) => kind === 'member' || (kind !== 'stays' && !skipDrain));
}

/** Before members leave, and again before the node goes down: the world may have moved since the grant. */
export function objectionToDrain({ all, node, grant }: Begun, leaving: readonly PodSeen[]) {
  const named = new Set(all.policy.spec.allowDowntimeOf);
  const keys = new Set([...grant.clusters, ...leaving.flatMap(({ cluster }) => cluster ?? [])]);
  for (const key of keys) {
    if (all.unasked?.has(key))
      return {
        reason: 'ClusterBusy',
        message: `EtcdCluster ${key} is asked last and alone: how it is is not known`,
      } as const;
    const cluster = all.clusters.find((one) => one.key === key);
    if (!cluster) continue;
    const busy = busyNow(cluster, node.name, named.has(key) && grant.overruled?.includes(key));
    if (busy) return busy;
    if (named.has(key)) continue;
    if (cluster.stopped !== undefined && leaving.some((pod) => pod.cluster === key))
      return { reason: 'ClusterStopped', message: `EtcdCluster ${key} ${cluster.stopped}` } as const;
    const isThere = cluster.members.some((member) => member.node === node.name);
    const objection =
      twoThere(cluster, node.name) ?? (isThere ? withoutNode(cluster, node.name) : whileAway(cluster, node.name));
    if (objection) return objection;
  }
  return undefined;
}

function evict(seen: Begun, pods: readonly PodSeen[], reason: NodeReason): NodeVerdict {
  const { all, node, grant } = seen;
  const named = new Set(all.policy.spec.allowDowntimeOf);
  const staying = pods.filter(({ leaving }) => !leaving);
  const words = `${pods.length} ${pods.length === 1 ? 'pod leaves' : 'pods leave'} ${node.name}, ${stuckOn(pods)}`;
  if (staying.length === 0) return saying(seen, reason, words, 1);
  // Another part in each step: what disruption budgets keep is not all that is ever tried.
  const first = staying.length > mostEvictions ? Math.floor(all.at.getTime() / 1000) % staying.length : 0;
  const part = [...staying.slice(first), ...staying.slice(0, first)].slice(0, mostEvictions);
  const leaving = part.map(({ namespace, name, uid, resourceVersion, cluster }) => ({
    namespace,
    name,
    uid,
    resourceVersion,
    ...(cluster !== undefined && { cluster }),
    ...(cluster !== undefined && named.has(cluster) && { byDeletion: true as const }),
  }));
  return {
    node: node.name,
    reason,
    message: words,
    action: { kind: 'evict', node: node.name, id: grant.id, pods: leaving },
  };
}

/** So many evictions at a time. */
const mostEvictions = 50;

export function stuckOn(pods: readonly PodSeen[]): string {
  const names = pods.slice(0, 3).map(({ namespace, name }) => `${namespace}/${name}`);
  return `still there: ${names.join(', ')}${pods.length > 3 ? ', …' : ''}`;
}
