import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { PeerBootstrap } from '../../manifests/api/etcd-peer.ts';
import type { CertificateState } from '../../manifests/build/cert-manager-state.ts';
import type { Authority, LeafPlan } from '../../manifests/build/certificate-names.ts';
import type { AuthorityRecord } from '../../manifests/build/certificate-secret.ts';
import type { VolumeRecord } from '../../manifests/build/volume-record.ts';
import type { AuthorityFacts, LeafFacts } from '../certificates/inspect.ts';
import type { Defect } from '../certificates/judge.ts';
import type { EndpointStatus, ListedMember, TlsProblem } from '../etcd.ts';
import type { Action } from './actions.ts';
import type { Inputs } from './effective.ts';

/**
 * Everything one step may look at, read once, as plain data.
 *
 * What could not be read is `unknown`, a value of its own: never empty, never zero, never "not there".
 */
export interface Observation {
  /** The API server's clock, not ours. */
  readonly at: Date;
  /** Fresh randomness as a value; a birth decided from this observation uses it as its token. */
  readonly nonce: string;
  readonly cluster: EtcdCluster;
  /** One per name `<cluster>-<n>` that anything bears, in the order of n. */
  readonly slots: readonly Slot[];
  readonly shared: Shared;
  readonly certificates: Certificates;
  readonly membership: Membership;
  /** What etcd calls the cluster version, like `3.6.0`; absent when nobody tells it, or none is decided yet. */
  readonly clusterVersion?: string;
  readonly claim: Claim;
  /** Absent while no volume says that its cluster is being recovered, and nothing of a recovery is left over. */
  readonly recovery?: RecoveryView;
  /** Whether a compaction up to the present would forget anything; asked only while etcd is out of space, absent when unknown. */
  readonly hasHistory?: boolean;
  /** Asked only while members are suspected to hold different data; absent when nobody could be asked. */
  readonly hashes?: Hashes;
  /**
   * Every Node object, by name: one that is not among them is gone. Read only where a pod does not run where it should (`read-disks.ts`);
   * absent: not asked, or not allowed, or there is none at all.
   */
  readonly nodes?: Readonly<Record<string, NodeView>>;
  /** Clusters of its fleet that take all the room there is: this one may not begin to change what works. */
  readonly crowdedBy?: readonly string[];
}

/** What the keys of each voter hash to, all of them at one revision. */
export interface Hashes {
  readonly revision: bigint;
  readonly answers: readonly HashAnswer[];
}

export type HashAnswer = {
  readonly memberId: string;
  /** Up to which it had applied what was written, just before it was asked. */
  readonly revision?: bigint;
} & (
  | {
      readonly kind: 'hash';
      readonly hash: number;
      /** What was compacted before is not in it: hashes are comparable only where this is the same. */
      readonly compactRevision: bigint;
    }
  /** It lacks that revision, and has applied everything that anybody has. */
  | { readonly kind: 'behind' }
  | { readonly kind: 'unknown'; readonly cause: string }
);

/** One ordinal's objects side by side: what should exist together, and does or does not. */
export interface Slot {
  readonly name: string;
  readonly ordinal: number;
  readonly peer?: PeerView;
  readonly volume?: VolumeView;
  /** A claim that came too late to be one. Set by whoever decides. */
  readonly late?: VolumeView;
  readonly configMap?: ConfigMapView;
  readonly statefulSet?: StatefulSetView;
  readonly pod?: PodView;
  readonly endpoint: Endpoint;
  /** What others report of its objects, and has not passed since. Read only when it is ill beyond a grace; absent: not asked, or unknown. */
  readonly warnings?: readonly Warning[];
}

/** Of one code and object, however many events there are. */
export interface Warning {
  readonly object: 'pod' | 'statefulSet' | 'volume';
  readonly uid: string;
  /** Like `FailedMount`. All that anything is decided on. */
  readonly reason: string;
  /** Of the event that came most often: somebody's words, for people, safe to show and short. */
  readonly message: string;
  readonly since: Date;
  readonly at: Date;
  readonly count: number;
}

interface View {
  readonly uid: string;
  /** It has a deletionTimestamp. */
  readonly leaving: boolean;
  /** It lacks the labels that lists go by, and was read by its name. */
  readonly unlabelled?: true;
}

interface OwnedView extends View {
  /** Whether its controller is the living one; the leftovers of a deleted namesake are not, and are being collected. */
  readonly current: boolean;
  /** No resource of ours controls it, so nobody collects it: somebody else's, or orphaned by a deletion that spared children. */
  readonly foreign?: true;
}

export interface PeerView extends OwnedView {
  readonly inputs: Inputs;
  readonly bootstrap: PeerBootstrap;
  /** UID of an unbound volume that a step was about to replace. */
  readonly replacingVolume?: string;
  /**
   * When its member was last asked to defragment, and how often in a row that has gained nothing, as far as is known. `bareAt`: it
   * did so when all history before this revision was forgotten, and tells since then what its content takes.
   */
  readonly defragmented?: { readonly at: Date; readonly vain: number; readonly bareAt?: bigint };
}

export interface VolumeView extends View {
  readonly record:
    | { readonly kind: 'valid'; readonly record: VolumeRecord }
    | { readonly kind: 'invalid'; readonly problem: string };
  /** Whether it ever got a real volume behind it, which may hold data. */
  readonly bound: boolean;
  /** What was bound is gone (`Lost`). */
  readonly lost: boolean;
  /** Absent while nothing is behind it yet. */
  readonly disk?: DiskView;
  /** `superseded`, as others remember it; its own claim says something else still. */
  readonly unmarked?: true;
  /** Requested, a quantity. */
  readonly size: string;
  /** It is smaller still than it was asked to be. */
  readonly growing?: GrowthView;
  readonly storageClassName?: string;
}

/** The PersistentVolume behind a claim. All but its name is read only on an occasion (`read-disks.ts`), and `unknown` without one. */
export interface DiskView {
  /** As the claim names it. */
  readonly pv: string;
  /** Of its driver, where that is a CSI driver and the PersistentVolume was read. */
  readonly handle?: string;
  /** `gone`: a GET by name proved that there is no such PersistentVolume. */
  readonly state: 'present' | 'gone' | 'unknown';
  /** Whether any Node object, cordoned, full or silent ones included, matches its node affinity. */
  readonly homes: 'some' | 'none' | 'unknown';
}

export interface GrowthView {
  /** In Kubernetes' word, like `FileSystemResizePending`; empty until its driver has said anything. */
  readonly phase: string;
  /** What the driver says of it; empty where it says nothing. */
  readonly message: string;
  /** The driver has given up. */
  readonly infeasible: boolean;
}

/** Its controller is the claim. */
export interface ConfigMapView extends OwnedView {
  /** Made by an earlier release: its controller is the peer still, so it would not go with the claim. */
  readonly byPeer?: true;
  readonly initialCluster: string;
  readonly initialClusterState: string;
  readonly immutable: boolean;
}

export interface StatefulSetView extends OwnedView {
  /** Of the inputs it was made from. */
  readonly inputsHash: string;
  /** The revision that a new pod would get; empty until its controller has seen it. */
  readonly updateRevision: string;
}

export interface PodView extends View {
  readonly ready: boolean;
  /** Of one that is leaving: when its grace is over. */
  readonly endsBy?: Date;
  /** Whether it was made from its StatefulSet's present template; `unknown` until the controller has seen that template. */
  readonly upToDate: 'yes' | 'no' | 'unknown';
  /** Of etcd, as its image's tag says; the peer may have been given another one since. */
  readonly version?: string;
  readonly address?: string;
  /** Bytes that the database of its etcd may have, as it was started with. */
  readonly quota?: number;
  /** The CAs that it was started with, by the name that its template gave them. */
  readonly trust?: string;
  readonly createdAt: Date;
  /** Where it runs, once it is scheduled. */
  readonly node?: string;
  /** `Unschedulable` and the like; absent once it is scheduled. */
  readonly unscheduled?: string;
  readonly container: ContainerView;
  /** Why it is over as a whole, like `Evicted` or `DeadlineExceeded`: its phase is `Failed`, and its StatefulSet makes another one. */
  readonly failed?: string;
  /** An init container or sidecar that keeps it from being Ready. */
  readonly beside?: OtherContainer;
  /** Whether kubelet has mounted its volumes and given it a network (`PodReadyToStartContainers`); absent: it does not say. */
  readonly hasSandbox?: boolean;
  /** What its volumes show beside its own claim; absent: nobody told. */
  readonly mounts?: MountsView;
}

export interface MountsView {
  /** By name. */
  readonly secrets: readonly string[];
  /** Something else, of which we don't know whether it is there: a ConfigMap, another claim, a driver's own. */
  readonly others: boolean;
}

/** A container of a member's pod that is not etcd's. */
export interface OtherContainer {
  readonly name: string;
  /** The kubelet's word for what it waits for, or for how it ended. */
  readonly reason: string;
  readonly restarts: number;
  readonly exit?: ContainerExit;
}

/** How a container ended, in the kubelet's and the runtime's own codes. */
export interface ContainerExit {
  /** Its exit code; 128 and the signal's number where a signal ended it. */
  readonly code: number;
  /** `Error` where the program ended by itself; `OOMKilled`, `StartError`, `ContainerCannotRun`, `ContainerStatusUnknown`, … */
  readonly reason: string;
}

/** The etcd container. */
export interface ContainerView {
  readonly state: 'unknown' | 'waiting' | 'running' | 'terminated';
  /** The kubelet's word for it, e.g. `ImagePullBackOff`, `CrashLoopBackOff`. */
  readonly reason: string;
  /** Whether it ever ran in this pod. What never ran wrote nothing. */
  readonly everStarted: boolean;
  readonly restarts: number;
  /** What it said when it last ended; empty if it never did. */
  readonly lastWords: string;
  /** The revision of its own data, where it ended because they differ from those of its peers, and said so. */
  readonly comparedAt?: bigint;
  /** When its present run began, or its last one where none is under way; absent if it never ran, or nobody told. */
  readonly startedAt?: Date;
  /** How it last ended. */
  readonly exit?: ContainerExit;
  /** The memory limit that it runs with, a quantity; absent: none, or nobody told. */
  readonly memoryLimit?: string;
  /** How long its startup probe gives each run before kubelet ends it, in milliseconds; absent: it has none, or nobody told. */
  readonly startupMs?: number;
}

export type Endpoint =
  /** `tls`: it is there, and we and it do not come together. */
  | { readonly kind: 'unknown'; readonly cause: string; readonly tls?: TlsProblem }
  | { readonly kind: 'known'; readonly status: EndpointStatus };

/**
 * `known` only from a linearizable answer: then a quorum serves. An empty list is something else than `unknown`. `last`: what
 * some member remembers of it, to say who is missing; nothing is ever changed on the strength of that.
 */
export type Membership =
  | { readonly kind: 'unknown'; readonly cause: string; readonly last?: readonly ListedMember[] }
  | { readonly kind: 'known'; readonly clusterId: string; readonly members: readonly ListedMember[] };

/** What there is of a recovery outside of the volumes. */
export type RecoveryView =
  | { readonly kind: 'unknown'; readonly cause: string }
  | {
      readonly kind: 'known';
      readonly job?: RecoveryJobView;
      readonly pods: readonly RecoveryPodView[];
      /** By name: those that pods are, or were, on whose end has to be seen. */
      readonly nodes: Readonly<Record<string, NodeState>>;
    };

export interface RecoveryJobView extends View {
  readonly name: string;
  /** Which recovery and which attempt it is of, as its volume says it. */
  readonly attempt: string;
  readonly failed: boolean;
}

export interface RecoveryPodView extends View {
  readonly name: string;
  /** etcd in it leads itself, and answers linearizable reads. */
  readonly ready: boolean;
  readonly unscheduled?: string;
  /** What holds it up, in the kubelet's word. */
  readonly waiting?: string;
  /** Of the container that ended with an error. */
  readonly failure?: {
    readonly container: string;
    readonly code: number;
    /** The kubelet's word, like `OOMKilled`. */
    readonly reason?: string;
    readonly words: string;
  };
}

export interface NodeView {
  readonly state: Exclude<NodeState, 'gone' | 'unknown'>;
  readonly labels: Readonly<Record<string, string>>;
  /** Not cordoned. */
  readonly schedulable: boolean;
}

/** `silent`: its kubelet is not heard. `outOfService`: a person has said that it is off. `unknown`: we may not look. */
export type NodeState = 'ready' | 'silent' | 'outOfService' | 'gone' | 'unknown';

export interface Shared {
  readonly headlessService: SharedView;
  readonly clientService: SharedView;
  readonly disruptionBudget: SharedView & { readonly minAvailable?: number };
}

export interface SharedView {
  /**
   * `leftover`: of a deleted namesake of this cluster, being collected. `foreign`: somebody else's, which nobody collects.
   * `drifted`: not made from the present inputs.
   */
  readonly state: 'missing' | 'leftover' | 'foreign' | 'drifted' | 'present';
}

export type Certificates =
  /** A plaintext cluster has none. */
  | { readonly kind: 'none' }
  /** Nothing called for a look at all of them; one was looked at, by turns, and it was sound. */
  | { readonly kind: 'unread' }
  | { readonly kind: 'unknown'; readonly cause: string }
  | {
      readonly kind: 'read';
      /** Those that we sign with; of the other modes there is none to see. */
      readonly authorities: Partial<Readonly<Record<Authority, AuthorityView>>>;
      readonly leaves: readonly LeafView[];
      /** Whether cert-manager's resources can be had; absent where it is not asked for anything. */
      readonly certManager?: CertManagerView;
    };

export type CertManagerView =
  | { readonly kind: 'known' }
  /** Without a cure, it may pass by itself. */
  | { readonly kind: 'unknown'; readonly reason: string; readonly message: string; readonly cure?: string };

/** All of them, looked at. */
export type ReadCertificates = Extract<Certificates, { kind: 'read' }>;

/** A Secret as it stands there: nothing, somebody else's, an earlier namesake's that is being collected, or the one meant. */
export type SecretState = 'missing' | 'foreign' | 'leftover' | 'ours';

export interface AuthorityView {
  readonly name: string;
  readonly state: SecretState;
  readonly uid?: string;
  readonly record?: AuthorityRecord;
  /** Absent when it cannot be read, or is no CA with its key: it signs nothing any more. */
  readonly facts?: AuthorityFacts;
}

export interface LeafView {
  readonly plan: LeafPlan;
  readonly state: SecretState;
  /** Absent when it cannot be read. */
  readonly facts?: LeafFacts;
  /** What is wrong with it, at the time of the observation. */
  readonly defects: readonly Defect[];
  /** Fingerprint of what its member presents on the wire; absent when it was not asked, or did not answer. */
  readonly served?: string;
  /** What others have for it: cert-manager, or a person. Absent where we sign, and where cert-manager's resources can't be had. */
  readonly issued?: IssuedView;
  /** When that was last put into this Secret. */
  readonly handedOverAt?: Date;
}

/** A Secret that others fill, and, where that is cert-manager, its Certificate of the same name. */
export interface IssuedView {
  readonly name: string;
  /** Absent where a person provides the Secret. */
  readonly certificate?: RequestedView;
  readonly secret: SecretState;
  /** Whether the Secret goes with its Certificate. */
  readonly owned: boolean;
  /** Absent when it cannot be read. */
  readonly facts?: LeafFacts;
  readonly defects: readonly Defect[];
}

export type RequestedView =
  | { readonly state: Exclude<SecretState, 'ours'> }
  | {
      readonly state: 'ours';
      readonly uid: string;
      /** Whether it asks for what we want. */
      readonly current: boolean;
      readonly createdAt: Date;
      readonly said: CertificateState;
    };

/** Who, if anybody, is carrying out a step right now. */
export type Claim =
  | { readonly kind: 'free' }
  /** Somebody's, and it may still be under way. */
  | { readonly kind: 'held'; readonly holder: string; readonly until: Date }
  /** Somebody's that ended without a report: its action is to be finished first. */
  | { readonly kind: 'abandoned'; readonly holder: string; readonly action: Action | undefined };
