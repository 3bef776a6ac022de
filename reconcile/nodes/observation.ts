import type { EtcdNodePolicy, NodeGrant } from '../../manifests/api/etcd-node-policy.ts';
import type { Marks } from './marks.ts';

/** Everything that one step for a node policy may look at, read once, as plain data. */
export interface NodesObservation {
  /** The API server's clock. */
  readonly at: Date;
  readonly policy: EtcdNodePolicy;
  /** Fresh randomness: the ID of a grant that is decided now. */
  readonly nonce: string;
  /** Nodes that the policy selects, and those that it has begun with. By name. */
  readonly nodes: readonly NodeSeen[];
  /** What other policies have begun with. */
  readonly ofOthers?: readonly NodeGrant[];
  /** Alerts that fire, of spec.blockedByAlerts. Absent: not asked for. */
  readonly alerts?: AlertsSeen;
  /** Nodes that hold kured's lock, of spec.kured. Absent: not asked for. */
  readonly kuredLock?: readonly string[];
  /** EtcdClusters with a member on a node that was looked at, or named in a grant. */
  readonly clusters: readonly ClusterSeen[];
  /** Clusters that this pass asks nothing, by their keys: how they are is not known. */
  readonly unasked?: ReadonlySet<string>;
}

export type AlertsSeen =
  | { readonly kind: 'read'; readonly names: readonly string[] }
  | { readonly kind: 'unreadable'; readonly why: string };

export interface NodeSeen {
  readonly name: string;
  readonly uid: string;
  /** The policy selects it; one that it has begun with may have lost its labels since. */
  readonly selected: boolean;
  /** Its value of the label spec.groupLabel. */
  readonly group?: string;
  readonly ready: boolean;
  readonly unschedulable: boolean;
  readonly bootId: string;
  readonly marks: Marks;
  /** What it needs a reboot for. Absent: it needs none. */
  readonly needed?: string;
  /** Name of a policy that comes before this one, and is about this node as well. */
  readonly ofOther?: string;
  /** kured says that it is at it. */
  readonly kured: boolean;
  /** Read where something may be done with the node. Absent: not looked at. */
  readonly pods?: readonly PodSeen[];
  /** The Job of its grant. Absent: there is none, or none was looked for. */
  readonly job?: JobSeen;
}

export interface PodSeen {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** `stays`: of a DaemonSet, of the kubelet itself, this very invocation, or the Job that reboots the node. */
  readonly kind: 'stays' | 'managed' | 'unmanaged' | 'member';
  readonly leaving: boolean;
  /** Of a member: its cluster, as `<namespace>/<name>`. */
  readonly cluster?: string;
  /** `spec.blockedBy` names it. */
  readonly blocks: boolean;
}

export interface JobSeen {
  readonly name: string;
  readonly uid: string;
  readonly state: 'under-way' | 'done' | 'failed';
}

/** What matters of an etcd cluster, as its own step sees it. */
export interface ClusterSeen {
  /** `<namespace>/<name>` */
  readonly key: string;
  /** A person has stopped it, or it is being deleted. In words. */
  readonly stopped?: string;
  /** An invocation acts on it (`held`), or its next step would act or wait. In words. */
  readonly busy?: { readonly kind: 'held' | 'act' | 'wait'; readonly why: string };
  /** Its spec says by itself that it may lose its quorum for a while. */
  readonly mayLoseQuorum: boolean;
  /** `undefined`: no quorum answers. */
  readonly clusterId?: string;
  /** Voters on etcd's list, known to Kubernetes or not. */
  readonly voters: number;
  readonly learners: number;
  readonly members: readonly MemberSeen[];
}

export interface MemberSeen {
  readonly name: string;
  readonly memberId?: string;
  readonly node?: string;
  readonly voter: boolean;
  /** It is healthy and in sync. */
  readonly serves: boolean;
  readonly leads: boolean;
  /** Its ailment, in words. */
  readonly ailment?: string;
  /** How far its log is: the next leader is the one with the most. */
  readonly log: bigint;
}
