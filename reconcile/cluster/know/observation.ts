import type { SnapshotSource } from '../../../manifests/api/backup-settings.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { PeerBootstrap } from '../../../manifests/api/etcd-peer.ts';
import type { Egress } from '../../../manifests/egress/egress.ts';
import type { BackupWish, Occasion } from '../../../manifests/render/backup-before.ts';
import type { CertificateState } from '../../../manifests/render/cert-manager-state.ts';
import type { Asked, NameAllowance } from '../../../manifests/render/certificate-allowance.ts';
import type { Authority, LeafPlan } from '../../../manifests/render/certificate-names.ts';
import type { AuthorityRecord } from '../../../manifests/render/certificate-secret.ts';
import type { ResolvedBackup, VolumeRecord } from '../../../manifests/render/volume-record.ts';
import type { ToldFailure } from '../../backup/agent/told.ts';
import type { EndpointStatus, ListedMember, TlsProblem } from '../../etcd.ts';
import type { RefusalReason } from '../../reasons/refusals.ts';
import type { AuthorityFacts, LeafFacts } from '../../x509/inspect.ts';
import type { Defect } from '../../x509/judge.ts';
import type { Action } from './action.ts';
import type { Inputs } from './inputs.ts';

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
  /** One per name `<cluster>-<n>` that any object has, in the order of n. */
  readonly slots: readonly Slot[];
  readonly shared: Shared;
  readonly certificates: Certificates;
  /** What issuers may be asked for besides a cluster's own names. Absent: nothing. */
  readonly nameAllowances?: readonly NameAllowance[];
  /** Where Jobs of restores may go. Absent: what an installation that says nothing allows. */
  readonly egress?: Egress;
  readonly membership: Membership;
  /** etcd's cluster version, like `3.6.0`; absent when no member reports it, or none is decided yet. */
  readonly clusterVersion?: string;
  readonly lease: Lease;
  /** Absent while no volume says that its cluster is being recovered, and no object of a recovery is left. */
  readonly recovery?: RecoveryView;
  /** Whether there is history to compact; asked only while etcd is out of space, absent when unknown. */
  readonly hasHistory?: boolean;
  /** Asked only while members may have different data; absent when no member could be asked. */
  readonly hashes?: Hashes;
  /**
   * Every Node object, by name: one that is not among them is gone. Read only where a pod does not run where it should
   * (`read-disks.ts`); absent: not asked, or not allowed, or there is none at all.
   */
  readonly nodes?: Readonly<Record<string, NodeView>>;
  /** The EtcdBackup that an upgrade, a hibernation or the deletion waits for: read only where the spec asks for it. */
  readonly awaitedBackup?: AwaitedBackupView;
  /** While no member runs: the backup that all volumes say they stopped after. Read when the cluster is to go. */
  readonly backupOfSleep?: NamedBackup;
  /** EtcdBackups that the spec names for a rollback; of a plan also those that another spec names. */
  readonly namedBackups?: readonly NamedBackup[];
  /** What can't be restored from, of what the spec names. */
  readonly snapshotClaims?: readonly SnapshotClaim[];
  /**
   * The newest backup of this very cluster, a verified one before all others; where there is none, of one that it was
   * rolled back from. Read only while no quorum answers.
   */
  readonly newestBackup?: BackupView;
  /** Clusters of its fleet that take all the room there is: this one may not begin to change what works. */
  readonly crowdedBy?: readonly string[];
}

export type NamedBackup = { readonly name: string } & (
  | { readonly kind: 'fit'; readonly backup: ResolvedBackup; readonly etcdVersion?: string }
  /** In words: `it is not Ready`. */
  | { readonly kind: 'unfit'; readonly why: string }
);

/** A PersistentVolumeClaim on which a snapshot is named, and that is for a member's data. */
export interface SnapshotClaim {
  readonly name: string;
  /** In words. */
  readonly problem: string;
}

/** A backup that is Ready, as its EtcdBackup says. */
export interface BackupView {
  readonly name: string;
  readonly takenAt: string;
  /** It was restored and compared. */
  readonly verified: boolean;
  /** What an EtcdCluster would be born from. */
  readonly snapshot: SnapshotSource;
  readonly revision?: number;
  /** Of an etcd cluster that was given up for this one. */
  readonly formerLife?: {
    readonly clusterId: string;
    /** It is what this one went back to. */
    readonly isOrigin: boolean;
  };
}

export type AwaitedBackupView = { readonly before: Occasion } & (
  | { readonly kind: 'unknown'; readonly cause: string }
  | { readonly kind: 'missing'; readonly name: string; readonly wish: BackupWish }
  /** Its namespace is being deleted: the API server makes nothing there any more. */
  | { readonly kind: 'namespace-ends' }
  /**
   * `foreign`: another wish or person made it. `stalled`: it asks for a person, and may go on. `message`: its own Ready
   * condition's.
   */
  | {
      readonly kind: 'known';
      readonly name: string;
      readonly state: 'under-way' | 'stalled' | 'good' | 'failed' | 'foreign' | 'leaving';
      readonly message: string;
      readonly askedAt: Date;
      /** Of one that is over. */
      readonly ended?: { readonly uid: string; readonly at: string };
      /** It ended too long ago: what is taken in its place. */
      readonly tooOld?: { readonly name: string; readonly wish: BackupWish };
    }
);

/** The hash of each voter's keys, all at one revision. */
export interface Hashes {
  readonly revision: bigint;
  readonly answers: readonly HashAnswer[];
}

export type HashAnswer = {
  readonly memberId: string;
  /** The revision that it had applied just before it was asked. */
  readonly revision?: bigint;
} & (
  | {
      readonly kind: 'hash';
      readonly hash: number;
      /** Compacted history is not in it: hashes are comparable only where this is the same. */
      readonly compactRevision: bigint;
    }
  /** It lacks that revision, and has applied every entry that any member has. */
  | { readonly kind: 'behind' }
  | { readonly kind: 'unknown'; readonly cause: string }
);

/** One ordinal's objects side by side: what should exist together, and does or does not. */
export interface Slot {
  readonly name: string;
  /** For commands in messages. Set before the decision. */
  readonly namespace?: string;
  readonly ordinal: number;
  readonly peer?: PeerView;
  readonly volume?: VolumeView;
  /** A PVC that came too late to count. Set before the decision. */
  readonly late?: VolumeView;
  readonly configMap?: ConfigMapView;
  readonly statefulSet?: StatefulSetView;
  readonly pod?: PodView;
  readonly endpoint: Endpoint;
  /**
   * Current warnings about its objects. Read only when it is ill beyond a grace period; absent: not asked, or unknown.
   */
  readonly warnings?: readonly Warning[];
}

/** One per reason and object, however many events there are. */
export interface Warning {
  readonly object: 'pod' | 'statefulSet' | 'volume';
  readonly uid: string;
  /** Like `FailedMount`. Decisions use nothing else. */
  readonly reason: string;
  /** Of the most frequent event: its text, for people, safe to show and short. */
  readonly message: string;
  readonly since: Date;
  readonly at: Date;
  readonly count: number;
}

interface View {
  readonly uid: string;
  /** It has a deletionTimestamp. */
  readonly leaving: boolean;
  /** It lacks the labels of the lists, and was read by its name. */
  readonly unlabelled?: true;
}

interface OwnedView extends View {
  /** Whether its controller is the living one; objects of a deleted namesake are not, and are being collected. */
  readonly current: boolean;
  /** No resource of ours controls it, so it is never collected: of another owner, or orphaned by a deletion. */
  readonly foreign?: true;
}

export interface PeerView extends OwnedView {
  readonly inputs: Inputs;
  readonly bootstrap: PeerBootstrap;
  /** UID of an unbound volume that a step was about to replace. */
  readonly replacingVolume?: string;
  /**
   * When its member was last asked to defragment, and how often in a row that freed nothing, as far as is known.
   * `bareAt`: it was rewritten when all history before this revision was compacted away, and reports the size of its
   * content since then.
   */
  readonly defragmented?: { readonly at: Date; readonly vain: number; readonly bareAt?: bigint };
}

export interface VolumeView extends View {
  readonly record:
    | { readonly kind: 'valid'; readonly record: VolumeRecord }
    | { readonly kind: 'invalid'; readonly problem: string };
  /** Whether it was ever bound to a PersistentVolume, which may hold data. */
  readonly bound: boolean;
  /** Its PersistentVolume is gone (`Lost`). */
  readonly lost: boolean;
  /** Absent while it is not bound. */
  readonly disk?: DiskView;
  /** `superseded` by the record of the others; its own PVC still says otherwise. */
  readonly unmarked?: true;
  /** Requested, a quantity. */
  readonly size: string;
  /** It is still smaller than it was asked to be. */
  readonly growing?: GrowthView;
  readonly storageClassName?: string;
}

/** The PersistentVolume of a PVC. All but its name is read only on an occasion (`read-disks.ts`), else `unknown`. */
export interface DiskView {
  /** As the claim names it. */
  readonly pv: string;
  /** Of its driver, where that is a CSI driver and the PersistentVolume was read. */
  readonly handle?: string;
  /** When the PersistentVolume was made, where it was read: a pod that was scheduled before did not mount it. */
  readonly createdAt?: Date;
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

/** Its controller is the PVC. */
export interface ConfigMapView extends OwnedView {
  /** Made by an earlier release: its controller is still the peer, so it would outlive the PVC. */
  readonly byPeer?: true;
  readonly initialCluster: string;
  readonly initialClusterState: string;
  readonly immutable: boolean;
}

export interface StatefulSetView extends OwnedView {
  /** Of the inputs it was made from. */
  readonly inputsHash: string;
  /** The revision of a new pod; empty until its controller has seen it. */
  readonly updateRevision: string;
}

export interface PodView extends View {
  readonly ready: boolean;
  /** Of a terminating pod: when its termination grace period is over. */
  readonly endsBy?: Date;
  /**
   * Whether it was made from its StatefulSet's present template; `unknown` until the controller has seen that template.
   */
  readonly upToDate: 'yes' | 'no' | 'unknown';
  /** Of etcd, as its image's tag says; the peer may have another one since. */
  readonly version?: string;
  readonly address?: string;
  /** The limit of its etcd's database in bytes, as it was started. */
  readonly quota?: number;
  /** The CAs that it was started with, by the word in its template. */
  readonly trust?: string;
  readonly createdAt: Date;
  /** Where it runs, once it is scheduled. */
  readonly node?: string;
  /** When it got that node; absent: unknown. */
  readonly scheduledAt?: Date;
  /** `Unschedulable` and the like; absent once it is scheduled. */
  readonly unscheduled?: string;
  readonly container: ContainerView;
  /** Why the whole pod has ended, like `Evicted` or `DeadlineExceeded`: its phase is `Failed`, and it is recreated. */
  readonly failed?: string;
  /** An init container or sidecar that keeps it from being Ready. */
  readonly beside?: OtherContainer;
  /** Whether kubelet has mounted its volumes and set up its network (`PodReadyToStartContainers`); absent: unknown. */
  readonly hasSandbox?: boolean;
  /** What it mounts beside its own PVC; absent: unknown. */
  readonly mounts?: MountsView;
}

export interface MountsView {
  /** By name. */
  readonly secrets: readonly string[];
  /** Something else that may not exist: a ConfigMap, another PVC, a driver's own. */
  readonly others: boolean;
}

/** A container of a member's pod that is not etcd's. */
export interface OtherContainer {
  readonly name: string;
  /** Kubelet's reason for waiting, or for its end. */
  readonly reason: string;
  readonly restarts: number;
  readonly exit?: ContainerExit;
}

/** How a container ended, in the codes of kubelet and the runtime. */
export interface ContainerExit {
  /** Its exit code; 128 and the signal's number where a signal ended it. */
  readonly code: number;
  /**
   * `Error` where the program ended by itself; `OOMKilled`, `StartError`, `ContainerCannotRun`,
   * `ContainerStatusUnknown`, …
   */
  readonly reason: string;
}

/** The etcd container. */
export interface ContainerView {
  readonly state: 'unknown' | 'waiting' | 'running' | 'terminated';
  /** Kubelet's reason, e.g. `ImagePullBackOff`, `CrashLoopBackOff`. */
  readonly reason: string;
  /** Whether it ever ran in this pod. A container that never ran wrote nothing. */
  readonly everStarted: boolean;
  readonly restarts: number;
  /** Its last log lines when it last ended; empty if it never did. */
  readonly lastWords: string;
  /** The revision of its own data, where it exited because they differ from its peers', and logged that. */
  readonly comparedAt?: bigint;
  /** When its present run began, or its last one where it does not run; absent if it never ran, or is unknown. */
  readonly startedAt?: Date;
  /** How it last ended. */
  readonly exit?: ContainerExit;
  /** Its memory limit, a quantity; absent: none, or unknown. */
  readonly memoryLimit?: string;
  /**
   * How long its startup probe gives each run before kubelet ends it, in milliseconds; absent: no probe, or unknown.
   */
  readonly startupMs?: number;
}

export type Endpoint =
  /** `tls`: reachable, but the TLS handshake fails. */
  | { readonly kind: 'unknown'; readonly cause: string; readonly tls?: TlsProblem }
  | { readonly kind: 'known'; readonly status: EndpointStatus };

/**
 * `known` only from a linearizable answer: then a quorum serves. An empty list is something else than `unknown`.
 * `last`: the list that some member remembers, to name missing members; nothing is ever changed because of it.
 */
export type Membership =
  | { readonly kind: 'unknown'; readonly cause: string; readonly last?: readonly ListedMember[] }
  | { readonly kind: 'known'; readonly clusterId: string; readonly members: readonly ListedMember[] };

/** What exists of a recovery or restore outside of the volumes. */
export type RecoveryView =
  | { readonly kind: 'unknown'; readonly cause: string }
  | {
      readonly kind: 'known';
      readonly job?: RecoveryJobView;
      readonly pods: readonly RecoveryPodView[];
      /** By name: nodes with pods, now or before, whose end must be seen. */
      readonly nodes: Readonly<Record<string, NodeState>>;
    };

export interface RecoveryJobView extends View {
  readonly name: string;
  /** Its recovery and attempt, as its volume names them. */
  readonly attempt: string;
  /** It is over, however it ended. */
  readonly failed: boolean;
  /** Of a restore's: why it, or its pod, has not started for minutes, in a code and in words of Kubernetes. */
  readonly notStarted?: { readonly reason: string; readonly message: string };
  /** It ended well. A recovery's never does: etcd does not end by itself. */
  readonly completed?: true;
  readonly endedAt?: Date;
}

export interface RecoveryPodView extends View {
  readonly name: string;
  /** UID of the Job that controls it. */
  readonly job?: string;
  /** It has come to its end, and well: the kubelet says so of a pod all of whose containers have. */
  readonly succeeded?: true;
  /** The node that it was bound to. */
  readonly node?: string;
  /** When it should have ended, where it was told to. */
  readonly endsBy?: Date;
  /** Its etcd is its own leader, and answers linearizable reads. */
  readonly ready: boolean;
  readonly unscheduled?: string;
  /** What holds it up, in kubelet's word. */
  readonly waiting?: string;
  /** Of the container that ended with an error. */
  readonly failure?: {
    readonly container: string;
    readonly code: number;
    /** The kubelet's word, like `OOMKilled`. */
    readonly reason?: string;
    readonly words: string;
    /** Where the agent ran in it, and said why. */
    readonly told?: ToldFailure;
  };
}

export interface NodeView {
  readonly state: Exclude<NodeState, 'gone' | 'unknown'>;
  readonly labels: Readonly<Record<string, string>>;
  /** Not cordoned. */
  readonly schedulable: boolean;
}

/**
 * `silent`: its kubelet does not report. `outOfService`: a person confirmed that it is off. `unknown`: no right to
 * look.
 */
export type NodeState = 'ready' | 'silent' | 'outOfService' | 'gone' | 'unknown';

export interface Shared {
  readonly headlessService: SharedView;
  readonly clientService: SharedView;
  readonly disruptionBudget: SharedView & { readonly minAvailable?: number };
  readonly networkPolicy: SharedView;
  readonly externalService: SharedView;
}

export interface SharedView {
  /**
   * `leftover`: of a deleted namesake of this cluster, being collected. `foreign`: of another owner, never collected.
   * `drifted`: not made from the present inputs.
   */
  readonly state: 'missing' | 'leftover' | 'foreign' | 'drifted' | 'present';
}

export type Certificates =
  /** A plaintext cluster has none. */
  | { readonly kind: 'none' }
  /** There was no reason to read all of them; one was read, by turns, and is sound. */
  | { readonly kind: 'unread' }
  | { readonly kind: 'unknown'; readonly cause: string }
  | {
      readonly kind: 'read';
      /** Those of etcd-ratchet; other modes have none. */
      readonly authorities: Partial<Readonly<Record<Authority, AuthorityView>>>;
      readonly leaves: readonly LeafView[];
      /** Whether cert-manager's resources can be read; absent where it is not used. */
      readonly certManager?: CertManagerView;
    };

export type CertManagerView =
  | { readonly kind: 'known' }
  /** Without a cure, it may pass by itself. */
  | { readonly kind: 'unknown'; readonly reason: RefusalReason; readonly message: string; readonly cure?: string };

/** All certificates, read. */
export type ReadCertificates = Extract<Certificates, { kind: 'read' }>;

/** A Secret as it exists: missing, of another owner, of an earlier namesake and being collected, or ours. */
export type SecretState = 'missing' | 'foreign' | 'leftover' | 'ours';

export interface AuthorityView {
  readonly name: string;
  readonly state: SecretState;
  readonly uid?: string;
  readonly record?: AuthorityRecord;
  /** Absent when it cannot be read, or is no CA with its key: it cannot sign. */
  readonly facts?: AuthorityFacts;
}

export interface LeafView {
  readonly plan: LeafPlan;
  readonly state: SecretState;
  /** Absent when it cannot be read. */
  readonly facts?: LeafFacts;
  /** What is wrong with it, at the time of the observation. */
  readonly defects: readonly Defect[];
  /** Fingerprint of the certificate that its member presents; absent when it was not asked, or did not answer. */
  readonly served?: string;
  /** The certificate of cert-manager or of a person. Absent where we sign, and where cert-manager cannot be read. */
  readonly issued?: IssuedView;
  /** When that was last copied into this Secret. */
  readonly handedOverAt?: Date;
}

/** A Secret of another signer, and, where that is cert-manager, its Certificate of the same name. */
export interface IssuedView {
  readonly name: string;
  /** Absent where a person provides the Secret. */
  readonly certificate?: RequestedView;
  readonly secret: SecretState;
  /** Whether the Secret is deleted with its Certificate. */
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
      readonly asked: Asked;
      /** Whether it requests what we want. */
      readonly current: boolean;
      readonly createdAt: Date;
      readonly said: CertificateState;
    };

/** Which invocation, if any, is carrying out a step right now. */
export type Lease =
  | { readonly kind: 'free' }
  /** Another invocation's, which may still be under way. */
  | { readonly kind: 'held'; readonly holder: string; readonly until: Date }
  /** Of an invocation that ended without a report: its action is finished first. */
  | { readonly kind: 'abandoned'; readonly holder: string; readonly action: Action | undefined };
