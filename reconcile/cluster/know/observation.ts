import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { Egress } from '../../../manifests/egress/egress.ts';
import type { NameAllowance } from '../../../manifests/render/certificate-allowance.ts';
import type { EndpointStatus, ListedMember, MemberMetrics, TlsProblem } from '../../interfaces/etcd.ts';
import type { RefusedApproval } from '../../objects/approvals.ts';
import type { Action } from './action.ts';
import type { ExistingPod } from './adoption/existing-pod.ts';
import type { AuthView } from './observed/auth.ts';
import type { AwaitedBackupView, BackupView, NamedBackup, SnapshotClaim, SnapshotOffer } from './observed/backups.ts';
import type { Certificates } from './observed/certificates.ts';
import type { Hashes } from './observed/hashes.ts';
import type { ConfigMapView, PeerView, Shared, StatefulSetView, Warning } from './observed/objects.ts';
import type { PodView } from './observed/pods.ts';
import type { DiskLogView, NodeView, RecoveryView } from './observed/recovery.ts';
import type { VolumeView } from './observed/volumes.ts';

export type * from './observed/auth.ts';
export type * from './observed/backups.ts';
export type * from './observed/certificates.ts';
export type * from './observed/hashes.ts';
export type * from './observed/objects.ts';
export type * from './observed/pods.ts';
export type * from './observed/recovery.ts';
export type * from './observed/volumes.ts';

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
  /** Of the cluster that the spec asks to take over: its members that are still on the list. Absent: there are none. */
  readonly inherited?: readonly InheritedView[];
  /** etcd's cluster version, like `3.6.0`; absent when no member reports it, or none is decided yet. */
  readonly clusterVersion?: string;
  readonly lease: Lease;
  /** Absent while no volume says that its cluster is being recovered, and no object of a recovery is left. */
  readonly recovery?: RecoveryView;
  /** Whether there is history to compact; asked only while etcd is out of space, absent when unknown. */
  readonly hasHistory?: boolean;
  /** Asked only where the spec says what users there are; absent: not asked. */
  readonly auth?: AuthView;
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
  readonly hibernationBackup?: NamedBackup;
  /** EtcdBackups that the spec names for a rollback; of a plan also those that another spec names. */
  readonly namedBackups?: readonly NamedBackup[];
  /** What can't be restored from, of what the spec names. */
  readonly snapshotClaims?: readonly SnapshotClaim[];
  readonly snapshotOffers?: readonly SnapshotOffer[];
  /**
   * The newest backup of this very cluster, a verified one before all others; where there is none, of one that it was
   * rolled back from. Read only while no quorum answers.
   */
  readonly newestBackup?: BackupView;
  /** Clusters of its fleet that take all the room there is: this one may not begin to change what works. */
  readonly crowdedBy?: readonly string[];
  /** A stage of its fleet that comes before is not over: what a commit changed in it may not begin. */
  readonly stage?: StageHold;
  /** Its plan costs more than the one that was shown, in words: what takes that may not begin yet. */
  readonly outgrown?: string;
  /** Approvals that are there and do not count, by its fleet's `spec.approvals.notByAuthor`: `cluster` lacks them. */
  readonly refusedApprovals?: readonly RefusedApproval[];
  /** Signers of what was applied since the cluster was last as asked, where its fleet asks for four eyes. */
  readonly signers?: readonly string[];
  /** Its spec is not the one that such a fleet left. */
  readonly differs?: boolean;
}

/** What a cluster of a later stage of `spec.rollout` waits for. */
export interface StageHold {
  /** Absent: it may be a fleet that is not its own. */
  readonly fleet?: string;
  /** In words, for people. */
  readonly why: string;
  /** When it ends by itself. */
  readonly until?: Date;
  /** A person is to look: by which field of `spec.rollout`. */
  readonly halt?: 'haltAbove' | 'haltOnStatuses';
  /** As many clusters as allowed have begun, and are not measured yet (`spec.rollout.haltAbove`): `why` names them. */
  readonly isRoom?: true;
}

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
  /** Read only where a quorum is lost, and the member does not tell it by itself (`disk-logs.ts`). */
  readonly log?: DiskLogView;
  /**
   * Current warnings about its objects. Read only when it is ill beyond a grace period; absent: not asked, or unknown.
   */
  readonly warnings?: readonly Warning[];
}

export type Endpoint =
  /**
   * `tls`: reachable, but the TLS handshake fails. `metrics`: it answers no client, but tells this, as a member does
   * that was started without a quorum. `atBirth`: the same, of one that was in none yet.
   */
  | {
      readonly kind: 'unknown';
      readonly cause: string;
      readonly tls?: TlsProblem;
      readonly metrics?: MemberMetrics;
      readonly atBirth?: MemberMetrics;
    }
  | { readonly kind: 'known'; readonly status: EndpointStatus };

/**
 * `known` only from a linearizable answer: then a quorum serves. An empty list is something else than `unknown`.
 * `last`: the list that some member remembers, to name missing members; nothing is ever changed because of it.
 */
export type Membership =
  | {
      readonly kind: 'unknown';
      readonly cause: string;
      readonly last?: readonly ListedMember[];
      /** Members that answer ask for a user of etcd. */
      readonly wantsUser?: true;
    }
  | { readonly kind: 'known'; readonly clusterId: string; readonly members: readonly ListedMember[] };

/** A member that the spec names of a cluster that it asks to take over. */
export interface InheritedView {
  readonly memberId: string;
  readonly endpoint: Endpoint;
  /** The one that answers for it; absent: none does. */
  readonly pod?: ExistingPod;
}

/** Which invocation, if any, is carrying out a step right now. */
export type Lease =
  | { readonly kind: 'free' }
  /** Another invocation's, which may still be under way. */
  | { readonly kind: 'held'; readonly holder: string; readonly until: Date }
  /** Of an invocation that ended without a report: its action is finished first. */
  | { readonly kind: 'abandoned'; readonly holder: string; readonly action: Action | undefined };
