import { parseDuration } from '../../manifests/api/duration.ts';
import type { EtcdNodePolicySpec, EtcdNodePolicyStatus, NodeGrant } from '../../manifests/api/etcd-node-policy.ts';
import { nodePolicyDefaults } from '../../manifests/api/spec-defaults.ts';
import type { LeaderMove } from './etcd.ts';
import type { PodSeen } from './observation.ts';
import type { NodeReason } from './reasons.ts';

/** What one step may do. Each is a few writes; every one of them is fenced by what was seen. */
export type NodeAction = {
  readonly node: string;
} /** Recorded in the policy's status first: that is the lock. Then the node is marked and cordoned. */ & (
  | { readonly kind: 'grant'; readonly grant: NodeGrant }
  /** An order that was given is taken back by it. */
  | { readonly kind: 'cordon'; readonly id: string }
  | { readonly kind: 'move-leaders'; readonly id: string; readonly moves: readonly LeaderMove[] }
  | { readonly kind: 'evict'; readonly id: string; readonly pods: readonly LeavingPod[] }
  /** The Job first: its UID is what the order names. */
  | { readonly kind: 'order'; readonly grant: NodeGrant }
  /** The node is back: it takes pods again, and members whose volumes can't leave it start. */
  | { readonly kind: 'welcome'; readonly id: string; readonly bootId: string; readonly why: string }
  | { readonly kind: 'finish'; readonly id: string }
  /** It is given back as it was. */
  | { readonly kind: 'put-off'; readonly id: string; readonly reason: NodeReason }
  /** The grant is taken out of the status: its node is done with, or gone. */
  | { readonly kind: 'drop'; readonly id: string; readonly completed?: true }
);

export type LeavingPod = Pick<PodSeen, 'namespace' | 'name' | 'uid' | 'resourceVersion'> & {
  /** Of a member. */
  readonly cluster?: string;
  /** Its cluster may lose its quorum: deleted, since the cluster's own disruption budget would refuse. */
  readonly byDeletion?: true;
};

/** The verdict on one node, and the action that it allows now. */
export interface NodeVerdict {
  readonly node: string;
  readonly reason: NodeReason;
  readonly message: string;
  readonly action?: NodeAction;
  /** When the clock alone makes another look worth it, in seconds. */
  readonly afterSeconds?: number;
}

export interface NodesDecision {
  /** The one thing that is done now. */
  readonly action?: NodeAction;
  /** Nodes that have begun, then those that wait, each in turn. */
  readonly verdicts: readonly NodeVerdict[];
  readonly selected: number;
  /** How many need a reboot, and have not begun. */
  readonly needed: number;
  /** When the next window opens. */
  readonly nextAt?: Date;
  readonly keeping?: EtcdNodePolicyStatus['keeping'];
}

/** In hexadecimal digits: it is the end of a Job's name. */
export const grantIdLength = 16;

/** In milliseconds. */
export function drainTimeoutOf({ drain }: EtcdNodePolicySpec): number {
  return parseDuration(drain?.timeout ?? nodePolicyDefaults.drain.timeout);
}

/** In milliseconds. */
export function rebootTimeoutOf({ reboot }: EtcdNodePolicySpec): number {
  return parseDuration(reboot?.timeout ?? nodePolicyDefaults.reboot.timeout);
}

/** In milliseconds. */
export function clusterTimeoutOf({ clusterTimeout }: EtcdNodePolicySpec): number {
  return parseDuration(clusterTimeout ?? nodePolicyDefaults.clusterTimeout);
}

/** How many of so many nodes may be away at once. */
export function roomOf({ maxUnavailable = nodePolicyDefaults.maxUnavailable }: EtcdNodePolicySpec, selected: number) {
  const percent = /^(\d+)%$/.exec(String(maxUnavailable))?.[1];
  return Math.max(1, percent === undefined ? Number(maxUnavailable) : Math.floor((Number(percent) * selected) / 100));
}

export function methodOf({ reboot }: EtcdNodePolicySpec): 'DBus' | 'Signal' | 'Command' | 'External' {
  return reboot?.method ?? nodePolicyDefaults.reboot.method;
}

/** A pod that would be lost, where the policy does not say that it may. One that is not evicted starts again there. */
export function unmanagedAmong(
  pods: readonly PodSeen[],
  { drain, skipDrain = nodePolicyDefaults.skipDrain }: EtcdNodePolicySpec,
): { readonly reason: NodeReason; readonly message: string } | undefined {
  if (skipDrain || (drain?.unmanagedPods ?? nodePolicyDefaults.drain.unmanagedPods) === 'Evict') return undefined;
  const lost = pods.find(({ kind, leaving }) => kind === 'unmanaged' && !leaving);
  if (!lost) return undefined;
  return { reason: 'UnmanagedPod', message: `pod ${lost.namespace}/${lost.name} has no controller and would be lost` };
}
