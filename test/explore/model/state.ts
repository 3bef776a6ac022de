import type { AuthSpec } from '../../../manifests/api/auth-settings.ts';
import type { EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdClusterStatus } from '../../../manifests/api/etcd-cluster-status.ts';
import type { ExistingCluster } from '../../../manifests/api/existing-cluster.ts';
import type { Leased } from '../../../reconcile/cluster/act/actions/define.ts';
import type { Action } from '../../../reconcile/cluster/know/action.ts';
import type {
  ConfigMapView,
  KnownAuth,
  PeerView,
  Shared,
  StatefulSetView,
  VolumeView,
} from '../../../reconcile/cluster/know/observation.ts';
import type { Inputs } from '../../../reconcile/cluster/know/spec/inputs.ts';
import type { Request } from '../../../reconcile/requests/program.ts';
import type { Answered } from '../../../reconcile/requests/standing.ts';
import type { AskedBackup, MadeBackup } from './backup-state.ts';
import type { Disk } from './disk.ts';
import type { FaultKind } from './fault-kind.ts';
import type { Leaf } from './leaves.ts';
import type { Approval, Forced, Job, JobPod, Revived } from './recovery-state.ts';

/**
 * The whole truth about one small cluster, as plain data that is never changed, only followed by other data.
 *
 * What the API server holds is said in the very words of an observation, so that what `decide` looks at is hardly a
 * translation. What it does not hold (disks, processes, who leads, requests that are still on their way) stands beside
 * it and is never shown.
 *
 * Left out, because no rule that is searched here can tell the difference:
 * - time: how long a member has been unhealthy is one of four ages (just now, longer than a pod's grace, longer than a
 *   member's, longer than a learner may take); a lease is over when its holder is;
 * - raft's log: a disk has all acknowledged writes, or lacks some; a member that is down while others serve lacks some;
 * - Kubernetes' steps between "there is a pod" and "its container starts"; other nodes than one for each member, with
 *   its disk; names and UIDs are taken again as soon as nothing refers to them any more, and so are member IDs, so that
 *   states that differ only in them are one;
 * - TLS, sizes of databases and NOSPACE: their rules see that there is nothing to do. But for names in certificates
 *   (`leaves.ts`) and a quota that is full.
 */
export interface World {
  readonly cluster: Cluster;
  /** One per ordinal that may be used. */
  readonly places: readonly Place[];
  readonly shared: Shared;
  readonly formations: readonly Formation[];
  /** In the order in which they were made; absent: the spec asked for none yet. */
  readonly backups?: readonly AskedBackup[];
  /** Those that people made; absent: no spec of the scenario names one. */
  readonly named?: readonly MadeBackup[];
  /** What becomes of dry runs of StatefulSets; absent: the API server takes them. */
  readonly dryRuns?: 'refused' | 'unanswered';
  /** Another client has given a member the next minor: what that starts, no rule of ours can take back. */
  readonly newerByOthers?: true;
  /** Every etcd runs, is asked and answers, and none hears another. */
  readonly apart?: true;
  /** Absent: revisions are left out. */
  readonly clients?: Clients;
  /** What etcd-ratchet and applications show. Absent: there are no certificates. */
  readonly ours?: Leaf;
  /** Users and roles of which status no longer knows, or never did, that they were asked for: they stay. */
  readonly strays?: readonly string[];
}

/** Those that watch. */
export interface Clients {
  /** The highest revision that they were told. */
  readonly saw: number;
  /** Of which formation. */
  readonly of: string;
}

export interface State {
  readonly world: World;
  /** The invocation that holds the lease. All others wait for it, so there is never a second. */
  readonly acting?: Acting;
  /** It holds the lease of a resource that was deleted and has a namesake: neither waits for the other. */
  readonly beside?: Acting;
  /** Another one, which has looked and decided, and has not leased yet. */
  readonly looked?: Looked;
  /** Writes of holders that are gone, still on their way. */
  readonly late: readonly Late[];
  readonly left: Left;
}

export interface Cluster {
  readonly spec: EtcdClusterSpec;
  readonly generation: number;
  readonly uid: string;
  /** Absent from the API server: deleted, and not applied again. */
  readonly gone?: true;
  readonly deleting?: true;
  readonly finalizer?: true;
  /** The finalizer that remembers that a last backup is owed. */
  readonly owesBackup?: true;
  readonly annotations?: Readonly<Record<string, string>>;
  /** What status remembers; a backup tool restores the resource without it. */
  readonly memory: Memory;
  /** The only action in a lease of the dead that `decide` looks at is a birth. */
  readonly abandoned?: Action;
  /** How often a rollback was approved: each begins with a token of its own. */
  readonly rollbacks?: number;
  /** What a person has agreed to, the last time. */
  readonly approval?: Approval;
  /** The ID of the member that a person agreed to give up, the last time. */
  readonly givenUp?: string;
  /** A person has agreed to names, and did not take it back before a volume said so. */
  readonly agreedToNames?: true;
}

export interface Memory {
  readonly clusterId?: string;
  readonly clusterVersion?: string;
  /** Learners that came to nothing under this spec, since the last that got through; two are as many as any. */
  readonly failedJoins?: number;
  /** What it says of users and roles: only where the spec says which there are to be. */
  readonly auth?: NonNullable<EtcdClusterStatus['auth']>;
  readonly retired?: readonly string[];
  /** What the spec said of others when ours joined them, while they vote. */
  readonly existing?: ExistingCluster;
  /** `over`: its time has passed. */
  readonly soak?: { readonly version: string; readonly over?: true };
  /** For what it has waited for days. */
  readonly waited?: string;
  /** Only where there are clients. */
  readonly floor?: number;
}

export interface Place {
  readonly name: string;
  readonly ordinal: number;
  readonly peer?: PeerView;
  readonly volume?: VolumeView;
  readonly configMap?: ConfigMapView;
  /** In the Secrets that its peer owns. */
  readonly leaf?: Leaf;
  readonly statefulSet?: StatefulSetView & { readonly inputs: Inputs };
  readonly pod?: Pod;
  /** For how long status has said that it is unhealthy. */
  readonly ill?: Age;
  /** The disk behind the volume; absent: it is empty. */
  readonly disk?: Disk;
  /** The etcd that runs in the pod. */
  readonly process?: Process;
  /** Its node is not heard: whether it, and with it its disk, is ever seen again is told by nothing. */
  readonly nodeDead?: true;
  /** On a node that is cut off it runs on, and nobody hears it. */
  readonly hidden?: Process;
  /** A member that others made and run: nothing of it in Kubernetes is ours, and `look` shows only what it answers. */
  readonly outside?: true;
  /** A person has said that the node is off. */
  readonly off?: true;
  /** The etcd that runs has no pod any more, which its kubelet will notice. */
  readonly orphan?: true;
  /**
   * A person deleted its pod by force, and so has said that it ended; Kubernetes asks no kubelet then. `early`: before
   * a recovery or rollback began, so that nothing remembers on which node it was.
   */
  readonly asserted?: 'early' | 'late';
  readonly job?: Job;
  readonly jobPod?: JobPod;
  /** The Job that has read the log on its disk, by name: it changes nothing, and is done at once. */
  readonly logJob?: string;
  /** What was saved of it before all this, and may be brought back. */
  readonly backup?: Backup;
}

/**
 * Just now · longer than `podGracePeriod` · longer than `memberGracePeriod` · longer than a learner may take to catch
 * up.
 */
export type Age = 0 | 1 | 2 | 3;

export interface Pod {
  readonly uid: string;
  readonly leaving: boolean;
  readonly ready: boolean;
  /** From which template it was made. */
  readonly inputs: Inputs;
  readonly hash: string;
  readonly container: 'waiting' | 'running' | 'exited' | 'crashing';
  readonly everStarted: boolean;
  /** What etcd said when it ended. */
  readonly words?: string;
  /** Made after its member was first seen unhealthy. */
  readonly renewed?: true;
  /** The node that has its volume is not heard. */
  readonly homeless?: true;
}

export interface Process {
  readonly formation: string;
  readonly memberId: string;
  readonly version: string;
  /** It has heard no quorum since its start: it answers no client, and tells its metrics. */
  readonly anew?: true;
  /** It lets in names only, as it was told when it started. */
  readonly asks?: true;
  /** What it shows other members. Absent: there are no certificates. */
  readonly shows?: Leaf;
}

/** One etcd cluster; what was forced out of one is another, though it bears the same ID. */
export interface Formation {
  readonly id: string;
  /** Of what it was begun: token and list. */
  readonly token: string;
  readonly members: readonly Member[];
  readonly leader?: string;
  /** The cluster version, like `3.6`; it moves up when all members run the next, and never back. */
  readonly version?: string;
  /** Its oldest entries that a member may have to replay were written by members of this minor. */
  readonly oldest: string;
  /** Raft's index: where it began, or far beyond any snapshot count. */
  readonly index: 'low' | 'high';
  /** A quorum of it ran: from then on it may hold writes. */
  readonly formed: boolean;
  /** Its size in bytes, where that counts, and whether etcd has raised NOSPACE: then its fleet has no room. */
  readonly data?: { readonly bytes: number; readonly alarm: boolean };
  /** Its users and roles; absent: none was ever made. */
  readonly auth?: KnownAuth;
  /** An acknowledged write is on no disk of a quorum that runs. */
  readonly lost?: true;
  /** How many approvals were followed by another leader: each adds an entry to raft's log. */
  readonly led?: number;
  readonly forced?: Forced;
  readonly revived?: Revived;
  /** It began from a snapshot. */
  readonly restored?: true;
  /** The snapshot that its Job was told to restore, by the hash of the wish. */
  readonly wish?: string;
  /** Of its last write; and up to where its history is gone. Only where there are clients. */
  readonly revision?: number;
  readonly compacted?: number;
  /** The clusters that were given up for it, as etcd tells their IDs. */
  readonly gaveUp?: readonly string[];
}

export interface Member {
  readonly id: string;
  /** As its URL says. */
  readonly name: string;
  /** It has told its name: it has started. */
  readonly published: boolean;
  readonly learner: boolean;
}

export interface Acting {
  readonly action: Action;
  readonly reason: string;
  /** The resource as it was leased. */
  readonly claimed: Leased;
  /** What the spec said of users then. */
  readonly auth?: AuthSpec;
  /** Of its program, so far. */
  readonly answers: readonly Answered[];
  /** It goes on to the end of the writes that are sent side by side, which have this number, and dies. */
  readonly doomed?: number;
  /** Its resource was deleted since, and has a namesake: `former.ts`. */
  readonly former?: true;
}

export interface Looked {
  readonly action: Action;
  readonly reason: string;
  /** The resource has been written since. */
  readonly stale: boolean;
}

export interface Late {
  readonly action: Action;
  readonly request: Request;
  /** Another one has done the same meanwhile, and seen it done. */
  readonly known?: true;
  /** The object has changed since it was read: only a bug lets it through. */
  readonly stale?: true;
  /** Sent for a resource that was deleted since, and has a namesake. */
  readonly former?: true;
}

/** What may still happen to this cluster. */
export interface Left {
  /** Changes of the spec, in order. */
  readonly changes: number;
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  readonly total: number;
}

export function placeOf(world: World, name: string): Place | undefined {
  return world.places.find((place) => place.name === name);
}

/** The same world with another place of this name. */
export function withPlace(world: World, name: string, change: (place: Place) => Place): World {
  const places = world.places.map((place) => (place.name === name ? change(place) : place));
  return { ...world, places };
}

/** Without the fields that are `undefined`: an absent one is no field at all. */
export function lacking<T extends object>(thing: T, ...keys: readonly (keyof T)[]): T {
  const rest = { ...thing };
  for (const key of keys) delete rest[key];
  return rest;
}

/** What a peer owned is nobody's without it, and will be collected. */
export function withoutPeer(place: Place): Place {
  const { statefulSet } = place;
  return {
    ...lacking(place, 'peer', 'ill', 'leaf'),
    ...(statefulSet && { statefulSet: { ...statefulSet, current: false } }),
  };
}

/** And what was behind the PVC. Its ConfigMap will be collected. */
export function withoutVolume(place: Place): Place {
  const { configMap } = place;
  return { ...lacking(place, 'volume', 'disk'), ...(configMap && { configMap: { ...configMap, current: false } }) };
}

export interface Backup {
  readonly volume: NonNullable<Place['volume']>;
  readonly disk: Disk;
}
