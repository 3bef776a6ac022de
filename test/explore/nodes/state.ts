import type { EtcdNodePolicySpec, NodeGrant } from '../../../manifests/api/etcd-node-policy.ts';
import type { Marks } from '../../../reconcile/nodes/marks.ts';
import type { Answered } from '../../../reconcile/requests/standing.ts';

/**
 * The truth about a few nodes and the clusters on them, as plain data that is never changed, only followed by other
 * data.
 *
 * Left out: what a look sees is of one moment; a cluster's own steps are three of the many that there are (one member
 * is rolled, one leaves, or it waits), told by hand and not by the rules that `scenarios.ts` searches; members are at
 * home on their nodes, as with local volumes; a time is now or long ago, and whoever acts is out of time before long
 * ago comes.
 */
export interface NodesWorld {
  readonly policy: ModelPolicy;
  readonly nodes: readonly ModelNode[];
  readonly clusters: readonly ModelCluster[];
  readonly jobs: readonly ModelJob[];
  readonly pods: readonly ModelPod[];
}

interface ModelPolicy {
  readonly spec: EtcdNodePolicySpec;
  readonly grants: readonly NodeGrant[];
  /** Nodes of which the status tells that a disruption budget keeps a pod: all of it that a decision rests on. */
  readonly kept: readonly string[];
}

export interface ModelMark {
  readonly word: string;
  readonly old?: true;
}

export interface ModelNode {
  readonly name: string;
  readonly boot: number;
  /** It is Ready, and its kubelet runs. */
  readonly up: boolean;
  readonly cordoned: boolean;
  readonly marks: Readonly<Partial<Record<keyof Marks, ModelMark>>>;
  readonly needed?: string;
  /** Its host was told, and goes down soon. */
  readonly told?: true;
  /** It does not come back from its next reboot. */
  readonly broken?: true;
  /** A person uncordoned it since our last cordon. */
  readonly takenBack?: true;
}

export interface ModelCluster {
  readonly key: string;
  /** Voters. */
  readonly members: readonly ModelMember[];
  readonly leader?: string;
  /** It is to have so many. */
  readonly wanted: number;
  /** Of its own step, or of a step of a node policy; `dead`: its holder is gone. */
  readonly lease?: { readonly by: 'own' | 'nodes'; readonly dead?: true };
  /** Its own next step was decided, and its lease is not taken yet: nothing was written to the cluster since. */
  readonly looked?: true;
}

export interface ModelMember {
  readonly name: string;
  /** Where its volume is. */
  readonly node: string;
  readonly pod: 'up' | 'starting' | 'leaving' | 'none';
  /** Which of its pods it is. */
  readonly turn: number;
  /** Its pod is of an older template. */
  readonly old?: true;
  /** It left, or went down, for a reboot of ours, and does not serve since. */
  readonly away?: true;
}

export interface ModelJob {
  readonly id: string;
  readonly turn: number;
  readonly node: string;
  readonly bootID: string;
  readonly state: 'waits' | 'done' | 'failed';
}

/** A pod that is no member's: it is made anew on any node that takes pods. */
export interface ModelPod {
  readonly name: string;
  readonly node?: string;
  readonly leaving?: true;
  readonly turn: number;
  /** Its disruption budget never lets it go. */
  readonly keeps?: true;
}

export interface NodesState {
  readonly world: NodesWorld;
  /** Invocations that have looked and decided. */
  readonly acting: readonly Acting[];
  readonly left: Left;
}

export interface Acting {
  /** What it saw: its decision, and its program, follow from it. */
  readonly saw: NodesWorld;
  readonly answers: readonly Answered[];
  /** What was written since it looked, by others. */
  readonly stale: readonly string[];
  /** Clusters whose lease it has. */
  readonly holds: readonly string[];
}

export type NodesFault =
  | 'death'
  | 'second'
  | 'time'
  | 'uncordon'
  | 'cordon'
  | 'withdraw'
  | 'stranger'
  | 'deaf'
  | 'agent'
  | 'crash'
  | 'reset'
  | 'broken';

export interface Left {
  readonly faults: Readonly<Partial<Record<NodesFault, number>>>;
  readonly total: number;
}

export interface NodesEvent {
  readonly who: 'step' | 'cluster' | 'agent' | 'world' | 'fault' | 'time';
  readonly what: string;
  /** A step begins with this node. */
  readonly grants?: string;
  /** Leaders that are to be evicted. */
  readonly evictsLeader?: string;
  /** A step of a policy sent it. */
  readonly evicts?: string;
  /** A cluster's own step lets a member go. */
  readonly rolls?: string;
  /** An agent takes its order up. */
  readonly takes?: { readonly node: string; readonly id: string };
  /** A node goes down as it was told. */
  readonly downs?: string;
}

export function serves(world: NodesWorld, { node, pod }: ModelMember): boolean {
  return pod === 'up' && world.nodes.some((one) => one.name === node && one.up);
}

export function quorum({ members }: ModelCluster): number {
  return Math.floor(members.length / 2) + 1;
}

export function serving(world: NodesWorld, { members }: ModelCluster): readonly ModelMember[] {
  return members.filter((member) => serves(world, member));
}

export function onNode(world: NodesWorld, name: string, change: (node: ModelNode) => ModelNode): NodesWorld {
  return { ...world, nodes: world.nodes.map((node) => (node.name === name ? change(node) : node)) };
}

export function onCluster(world: NodesWorld, key: string, change: (cluster: ModelCluster) => ModelCluster): NodesWorld {
  return { ...world, clusters: world.clusters.map((one) => (one.key === key ? change(one) : one)) };
}

export function onMember(world: NodesWorld, name: string, change: (member: ModelMember) => ModelMember): NodesWorld {
  const clusters = world.clusters.map((cluster) => {
    if (!cluster.members.some((member) => member.name === name)) return cluster;
    return { ...cluster, members: cluster.members.map((one) => (one.name === name ? change(one) : one)) };
  });
  return { ...world, clusters };
}

/** Members that serve again are away no more, and a quorum without a leader elects one. */
export function settled(world: NodesWorld): NodesWorld {
  const clusters = world.clusters.map((cluster) => {
    const members = cluster.members.map((member) => {
      if (!member.away || !serves(world, member)) return member;
      const { away: _, ...back } = member;
      return back;
    });
    const { leader, ...rest } = { ...cluster, members };
    const able = serving(world, rest);
    const next = able.length < quorum(rest) ? undefined : (able.find(({ name }) => name === leader) ?? able[0]);
    return { ...rest, ...(next && { leader: next.name }) };
  });
  return { ...world, clusters };
}
