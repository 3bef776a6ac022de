import { isDeepStrictEqual } from 'node:util';
import type { PersistentVolumeClaim, Pod } from '../../../manifests/kube-types.ts';
import type { KnownAuth } from '../../../reconcile/cluster/know/observation.ts';
import type { KubeObject, Resource } from '../../../reconcile/interfaces/kube.ts';
import type { LeafFacts } from '../../../reconcile/x509/inspect.ts';
import type { FakeKube } from '../fakes/kube.ts';
import type { Data, Member } from './members.ts';
import type { Space } from './space-state.ts';
import type { MemberTls, Party } from './tls-state.ts';

/** One running etcd process. */
export interface Process {
  /** `<namespace>/<name>` */
  readonly pod: string;
  readonly cluster: string;
  readonly data: Data;
  readonly address: string;
  readonly version: string;
  /** Entries between two snapshots of raft. */
  readonly snapshotCount: number;
  /** It has been in a quorum since its start: before that, etcd answers no client. */
  served: boolean;
  /** Absent: plaintext. */
  readonly tls?: MemberTls;
}

/** The facts of one etcd cluster, whichever of its members run. */
export interface Formation {
  members: readonly Member[];
  /** IDs of those that are no longer members, for ever. */
  readonly removed: Set<string>;
  /** Names of those that have been seen running with a quorum, by ID. */
  readonly published: Map<string, string>;
  /** The last leader leads on for as long as it can. */
  leader?: string;
  /** Writes that clients were told are kept; the last of them is raft's index, too. */
  acknowledged: number;
  /** The cluster version, like `3.6`: it moves up a while after all members run that minor, and never back. */
  version?: string;
  /** For how many heartbeats it has been about to. */
  arriving: number;
  /** Up to this entry some may have been written by 3.5. */
  ancient: number;
  /** Changes of the member list: IDs are made of them. */
  changes: number;
  /** Absent: a little, and no more than that. */
  space?: Space;
  /** Whom etcd blames for data that differ: IDs, or `0` for nobody. While there is any, it takes no writes. */
  corrupt?: Set<string>;
  /** The members of before, where somebody was told to go on without them. */
  forced?: { readonly by: string; readonly before: readonly Member[] };
  /** IDs of the members that it began with, where etcd-ratchet made none of them. */
  readonly others?: readonly string[];
  /** IDs of those that a person let leave, as the EtcdCluster said when it was last there. */
  approvedToLeave?: readonly string[];
  /** It began from a snapshot: so many revisions ahead of its writes, and with all history before this one gone. */
  ahead?: number;
  readonly compacted?: number;
  /** Its users and roles; absent: none was ever made. */
  auth?: KnownAuth;
  /** Its own user is one of etcd's no more. */
  unreadUsers?: boolean;
  /** Whether a quorum of it ever ran at once: from then on it may hold data. */
  formed: boolean;
}

/**
 * `Loading`: etcd runs, and answers nobody yet. Else the reason of the event that kubelet or a controller makes of it.
 */
export type Blocker = 'Loading' | 'FailedMount' | 'FailedCreate';

/** What the world outside the API server consists of, and how it answers. */
/** `dies`: of its node. */
export type TrialEnd = 'serves' | 'exits' | 'dies' | 'has no room';

export interface State {
  readonly kube: FakeKube;
  /** By UID of the PVC: what is on the disk. */
  readonly disks: Map<string, Data>;
  /** By UID of the PVC: attempts of recoveries that have run on that disk, like `<id>/1`. */
  readonly attempts: Map<string, Set<string>>;
  /** By UID of the PVC: every cluster ID that was ever on that disk. */
  readonly wrote: Map<string, Set<string>>;
  readonly processes: Map<string, Process>;
  readonly formations: Map<string, Formation>;
  /** Storage classes; `''` is the default one. */
  readonly classes: Map<string, { readonly binding: 'Immediate' | 'WaitForFirstConsumer'; readonly grows: boolean }>;
  /** Whether an image can be pulled. */
  readonly images: { has: (image: string) => boolean };
  /** Whether etcd dies of how this pod is made (too little memory, a bad flag). */
  readonly deadly: { is: (pod: Pod) => boolean };
  /** Whether any node has room for it, and which one it gets. */
  readonly room: { for: (pod: Pod) => boolean; home: (pod: Pod) => string };
  /**
   * What keeps this pod from coming to run etcd, if anything: its etcd reads a large database, or nothing starts at
   * all.
   */
  readonly heldUp: { by: (pod: Pod) => Blocker | undefined };
  /** How the etcd of a rollback's Job does on a copy of what this pod restored. */
  readonly trials: { end: (pod: Pod) => TrialEnd };
  /** By UID of the PVC: an etcd has served a copy of these data. */
  readonly tried: Set<string>;
  readonly violations: string[];
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Clocks of members and clients differ by as much, both ways; milliseconds. */
  skew: number;
  /** Chains that were found to hold, and between which times. */
  readonly verified: Map<string, { readonly from: number; readonly until: number }>;
  /** What a Secret's certificate says. */
  readonly read: Map<string, LeafFacts | 'unreadable'>;
  /** Between members, by their addresses, which no two starts share. */
  readonly connections: Set<string>;
  /** How often each pod's container was started, by the pod's name. */
  readonly starts: Map<string, number>;
  /** Applications, by what they are called: each goes on with what it read from its Secret. */
  readonly clients: Map<string, Party>;
  /** What clients of a cluster saw last, by `<namespace>/<name>`. */
  readonly saw: Map<string, { readonly clusterId: string; readonly revision: number }>;
  /** Their pods neither run nor end. */
  readonly deadNodes: Set<string>;
  /** Pods whose mounted files their kubelet does not bring up to date. */
  readonly neglected: Set<string>;
  /** By UID of a StatefulSet: the generation at which another client changed what pods are made from. */
  readonly changedByOthers: Map<string, number>;
  /** While no fault was made on purpose: everybody can talk to everybody, and at most one member is down. */
  watchful: boolean;
  addresses: number;
  /** Counts what anybody changed: while it moves, the world is not at rest. */
  changes: number;
}

export function claimOf(pod: Pod, claims: readonly PersistentVolumeClaim[]): PersistentVolumeClaim | undefined {
  const name = pod.spec.volumes?.find((volume) => volume.persistentVolumeClaim)?.persistentVolumeClaim?.claimName;
  return claims.find(({ metadata }) => metadata.name === name && metadata.namespace === pod.metadata.namespace);
}

/** A controller's write. `before` is what it read; nothing is written when nothing changes. */
export function put<T extends KubeObject>(state: State, resource: Resource, before: T | undefined, after: T): void {
  if (isDeepStrictEqual(before, after)) return;
  state.kube.seed(resource, after);
}

export function drop(state: State, resource: Resource, { metadata }: KubeObject): void {
  state.kube.remove(resource, metadata.namespace, metadata.name);
}
