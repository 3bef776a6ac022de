import type { EtcdNodePolicy, EtcdNodePolicySpec, NodeGrant } from '../../../manifests/api/etcd-node-policy.ts';
import { decideNodes } from '../../../reconcile/nodes/decide.ts';
import type {
  ClusterSeen,
  MemberSeen,
  NodeSeen,
  NodesObservation,
  PodSeen,
} from '../../../reconcile/nodes/observation.ts';

/** Observations for tables: three nodes, and a cluster with a member on each. */

export const at = new Date('2026-11-23T12:00:00Z');

export function policyOf(spec: Partial<EtcdNodePolicySpec> = {}, grants: readonly NodeGrant[] = []): EtcdNodePolicy {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdNodePolicy',
    metadata: { name: 'all', uid: 'p', resourceVersion: '1', generation: 1 },
    spec: { nodeSelector: {}, ...spec },
    ...(grants.length > 0 && { status: { observedGeneration: 1, grants } }),
  };
}

export function grantOf(node: string, changes: Partial<NodeGrant> = {}): NodeGrant {
  const id = `id-${node}`;
  return {
    node,
    uid: `uid-${node}`,
    id,
    at: '2026-11-23T11:59:00Z',
    why: 'kernel',
    bootID: 'boot-1',
    clusters: ['default/orders'],
    ...changes,
  };
}

export function nodeOf(name: string, changes: Partial<NodeSeen> = {}): NodeSeen {
  return {
    name,
    uid: `uid-${name}`,
    selected: true,
    ready: true,
    unschedulable: false,
    bootId: 'boot-1',
    marks: {},
    kured: false,
    ...changes,
  };
}

export function podOf(name: string, changes: Partial<PodSeen> = {}): PodSeen {
  return {
    namespace: 'default',
    name,
    uid: `uid-${name}`,
    resourceVersion: '7',
    kind: 'managed',
    leaving: false,
    blocks: false,
    ...changes,
  };
}

export function memberPod(name: string, changes: Partial<PodSeen> = {}): PodSeen {
  return podOf(`${name}-0`, { kind: 'member', cluster: 'default/orders', ...changes });
}

export function memberOf(ordinal: number, changes: Partial<MemberSeen> = {}): MemberSeen {
  return {
    name: `orders-${ordinal}`,
    memberId: `${ordinal}`,
    node: `node-${ordinal + 1}`,
    voter: true,
    serves: true,
    leads: ordinal === 0,
    log: 100n,
    ...changes,
  };
}

export function clusterOf(changes: Partial<ClusterSeen> = {}): ClusterSeen {
  const members = changes.members ?? [memberOf(0), memberOf(1), memberOf(2)];
  const voters = members.filter(({ voter }) => voter).length;
  return { key: 'default/orders', mayLoseQuorum: false, clusterId: 'c', voters, learners: 0, members, ...changes };
}

export function seenOf(changes: Partial<NodesObservation> = {}): NodesObservation {
  const nodes = [1, 2, 3].map((index) =>
    nodeOf(`node-${index}`, { needed: 'kernel', pods: [memberPod(`orders-${index - 1}`)] }),
  );
  return {
    at,
    policy: policyOf(),
    nonce: '0123456789abcdef0123456789abcdef',
    nodes,
    clusters: [clusterOf()],
    ...changes,
  };
}

export function minutesAgo(minutes: number): Date {
  return new Date(at.getTime() - minutes * 60_000);
}

/** One node that has begun, beside another one that would like to. */
export function onTheWay(
  node: Partial<NodeSeen>,
  changes: Partial<NodesObservation> = {},
  spec: Partial<EtcdNodePolicySpec> = {},
  grant: Partial<NodeGrant> = {},
) {
  const begun = nodeOf('node-1', { needed: 'kernel', unschedulable: true, pods: [], ...node });
  const nodes = [begun, nodeOf('node-2', { needed: 'kernel', pods: [] })];
  const policy = policyOf(spec, [grantOf('node-1', grant)]);
  const decision = decideNodes(seenOf({ nodes, policy, ...changes }));
  const [verdict] = decision.verdicts;
  const { action } = decision;
  const { reason, message = '', afterSeconds } = verdict ?? {};
  return { reason, message, afterSeconds, action, kind: action?.kind };
}

/** Its marks once it has begun, and once it is cordoned as well. */
export const granted = { granted: { at: minutesAgo(1), word: 'id-node-1' } } as const;
export const cordoned = { ...granted, cordoned: { at: minutesAgo(1), word: 'by-us' } } as const;
