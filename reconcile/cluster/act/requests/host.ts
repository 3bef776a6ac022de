import type { BackupWish } from '../../../../manifests/render/backup-before.ts';
import type { Authority } from '../../../../manifests/render/certificate-names.ts';
import type { JobWork } from '../../../../manifests/render/names.ts';
import type { NewLife } from '../../../../manifests/render/new-life.ts';
import type { Recovery } from '../../../../manifests/render/volume-record.ts';
import type { MemberList } from '../../../interfaces/etcd.ts';
import type { Alarm } from '../../../interfaces/etcd-admin.ts';
import type { AuthChange } from '../../../interfaces/etcd-auth.ts';
import type { LabelledRef } from '../../know/actions/birth.ts';
import type { Finalizer } from '../../know/marks.ts';
import type {
  AuthorityView,
  ConfigMapView,
  IssuedView,
  KnownAuth,
  LeafView,
  PeerView,
  Shared,
  StatefulSetView,
  VolumeView,
} from '../../know/observation.ts';
import type { Inputs } from '../../know/spec/inputs.ts';
import type { Looked } from '../../know/versions/versions-run.ts';
import type { ReadAt } from './read-at.ts';

/**
 * Where the plain state of a model is kept: a plan's observation, or the world of a search. It stores and hands out,
 * and does what Kubernetes and etcd do at once; it knows nothing of actions.
 */
export interface Host<S> {
  /** Of all members that anything bears. */
  names(state: S): readonly string[];
  get<K extends keyof Stored>(state: S, name: string, kind: K): Stored[K] | undefined;
  pod(state: S, name: string): PodSeen | undefined;
  /** Whether nothing was written to it since it was read. */
  isCurrent(readAt: ReadAt): boolean;
  /** A POST, where there is nothing of that name yet. */
  make<K extends keyof Stored>(state: S, name: string, kind: K, build: (fresh: Fresh) => Stored[K]): S;
  /** A PUT of what is there. */
  put<K extends keyof Stored>(state: S, name: string, kind: K, object: Stored[K]): S;
  /** A DELETE: what has finalizers, or is in use, only begins to go. */
  remove(state: S, name: string, kind: keyof Stored | 'pod'): S;
  shared<K extends keyof Shared>(state: S, kind: K): Shared[K];
  putShared<K extends keyof Shared>(state: S, kind: K, object: Shared[K]): S;
  /** Its labels are back. */
  labelled(state: S, object: LabelledRef): S;
  /** Of the cluster itself: whether its deletion waits for its volumes, or for its last backup. */
  finalizer(state: S, finalizer: Finalizer, present: boolean): S;
  /** The record of versions: all of it but what members would answer. */
  looked(state: S): Looked;
  readonly etcd: EtcdHost<S>;
  readonly certificates: CertificatesHost<S>;
  readonly space: SpaceHost<S>;
  readonly auth: AuthHost<S>;
  readonly recovery: RecoveryHost<S>;
  /** The EtcdBackup that is awaited before the cluster changes or goes. */
  awaitedBackup(state: S, name: string): 'missing' | 'ours' | 'foreign';
  makeBackup(state: S, name: string, wish: BackupWish): S;
}

export interface Stored {
  readonly peer: PeerView;
  readonly volume: VolumeView;
  readonly configMap: ConfigMapView;
  readonly statefulSet: StatefulSetView & { readonly inputs?: Inputs };
}

export interface Fresh {
  readonly uid: string;
  readonly leaving: false;
}

export interface PodSeen {
  readonly uid: string;
  readonly leaving: boolean;
  readonly ready: boolean;
  /** Of the template that it was made from; that of its StatefulSet where it is up to date. */
  readonly revision: string;
  readonly version?: string;
  readonly everStarted: boolean;
}

/** What one member says of itself. */
export interface MemberSeen {
  readonly name: string;
  readonly memberId: string;
  readonly clusterId: string;
  /** `0` when it knows none. */
  readonly leader: string;
  /** In decimal. */
  readonly revision: string;
}

/** How far the log of one member is decided, in decimal, and what follows from it. */
export interface LogSeen {
  readonly memberId: string;
  readonly raftIndex: string;
  readonly revision: string;
  readonly isSettled: boolean;
}

export interface EtcdHost<S> {
  /** What a quorum says behind a barrier; `undefined`: none answers. */
  list(state: S): MemberList | undefined;
  /** Of all members that would answer. */
  members(state: S): readonly MemberSeen[];
  /** Names of those that run, and do not answer. */
  silent(state: S): readonly string[];
  /** Whether a member that can be asked hears a quorum. */
  hasQuorum(state: S): boolean;
  /** Of all members that would answer, or tell it without a quorum. */
  logs(state: S): readonly LogSeen[];
  /** As any member that answers knows it, like `3.6.0`. */
  version(state: S): string | undefined;
  /** The changes, each as etcd takes it, or refuses it. @throws {StepError} */
  add(state: S, clusterId: string, member: { readonly name: string; readonly url: string }): S;
  promote(state: S, clusterId: string, memberId: string): S;
  remove(state: S, clusterId: string, memberId: string): S;
  moveLeader(state: S, clusterId: string, to: string): S;
  /** Entries that change nothing are added until every member has applied this index. @throws {StepError} */
  advance(state: S, index: string): S;
}

/** The database of one member that answers, in bytes. */
export interface DatabaseSeen {
  readonly memberId: string;
  readonly clusterId: string;
  readonly size: number;
}

/** What etcd keeps, and how much room that takes. */
export interface SpaceHost<S> {
  sizes(state: S): readonly DatabaseSeen[];
  alarms(state: S): readonly Alarm[];
  disarm(state: S, alarm: Alarm): S;
  /** @throws {StepError} */
  compact(state: S, revision: string): S;
  defragment(state: S, memberId: string): S;
}

/** etcd's users and roles. */
export interface AuthHost<S> {
  seen(state: S): KnownAuth;
  /** As etcd makes it, or refuses it. @throws {StepError} */
  change(state: S, change: AuthChange): S;
}

export interface JobMade {
  readonly work: JobWork;
  /** Of a restore: so many revisions ahead of the snapshot. */
  readonly bump?: number | undefined;
  /** Of a rollback's restore: an etcd must serve a copy of it. */
  readonly trial?: true | undefined;
  /** Of a recovery: the new life that it makes. */
  readonly begins?: NewLife | undefined;
}

export interface JobSeen {
  readonly uid: string;
  /** Which recovery and which attempt it is of, as its volume says it. */
  readonly attempt: string;
  /** Its pod has ended well. */
  readonly completed?: true;
  /** It ends well only once an etcd has served a copy of what it made. */
  readonly trial?: true;
  /** It makes a new life, and ends. */
  readonly begins?: true;
}

export interface RecoveryPodSeen {
  readonly name: string;
  readonly uid: string;
  /** etcd in it leads itself. */
  readonly ready: boolean;
  /** UID of the Job that controls it. */
  readonly job?: string;
  /** All of its containers have ended well. */
  readonly succeeded?: true;
}

/** What there is of a recovery or restore outside of the volumes. Jobs go by the names of their members. */
export interface RecoveryHost<S> {
  /** Which node each member's pod is on, by the member's name. */
  nodes(state: S): Recovery['lastSeenOn'];
  job(state: S, name: string, work: JobWork): JobSeen | undefined;
  makeJob(state: S, name: string, attempt: string, job: JobMade): S;
  removeJob(state: S, name: string, work: JobWork): S;
  pods(state: S): readonly RecoveryPodSeen[];
  /** That of this name reads the log on the disk of this member. */
  makeLogJob(state: S, name: string, job: string): S;
}

/** Secrets of certificates, as rules see them; one that is not there is `missing`. No key is in any of it. */
export interface CertificatesHost<S> {
  now(state: S): Date;
  authority(state: S, authority: Authority): AuthorityView | undefined;
  putAuthority(state: S, authority: Authority, view: AuthorityView): S;
  leaves(state: S): readonly LeafView[];
  /** A write of its Secret, which its holder is yet to read. */
  putLeaf(state: S, leaf: LeafView): S;
  /** What others have for a leaf, or were asked for. */
  putIssued(state: S, secretName: string, issued: IssuedView): S;
}
