/**
 * The part of etcd that reconciling needs. `../clients/etcd.ts` implements it with etcd3, with the guards that
 * ARCHITECTURE.md lists: no blind retries, a deadline on every call, status asked of the very endpoint it is about.
 */

/** A member ID as etcd prints it: 16 lower-case hex digits or fewer, no prefix. Never a number: IDs use all 64 bits. */
export type MemberId = string;

export interface ListedMember {
  readonly id: MemberId;
  /** Empty until the member has started and published itself. */
  readonly name: string;
  readonly peerURLs: readonly string[];
  readonly clientURLs: readonly string[];
  readonly isLearner: boolean;
}

export interface MemberList {
  /** From the response header, hex like a member ID. */
  readonly clusterId: string;
  readonly members: readonly ListedMember[];
}

export interface EndpointStatus {
  /** The member that answered. */
  readonly memberId: MemberId;
  readonly clusterId: string;
  /** `0` when it knows none. */
  readonly leader: MemberId;
  /** What runs there, like `3.6.16`. */
  readonly version: string;
  readonly isLearner: boolean;
  readonly raftIndex: bigint;
  readonly raftAppliedIndex: bigint;
  readonly raftTerm: bigint;
  readonly revision: bigint;
  /** Bytes. */
  readonly dbSize: bigint;
  /** Bytes. */
  readonly dbSizeInUse: bigint;
  /** etcd's own complaints, e.g. `NOSPACE`. */
  readonly errors: readonly string[];
}

/** `clusterVersion` is not in Status but in `GET /version`, as `etcdcluster`: `not_decided` before the first leader. */
export interface EndpointVersion {
  readonly server: string;
  readonly cluster: string;
}

/** What a member tells without a quorum, and to any client: also one that was started anew, and answers none yet. */
export interface MemberMetrics {
  readonly memberId: MemberId;
  readonly hasLeader: boolean;
  /** etcd 3.5 forgets it with a restart, and says no. */
  readonly isLearner: boolean;
  /** The entry that it applied last: after a start, of its log; its database, and the revision, may have one more. */
  readonly applied: bigint;
  readonly revision: bigint;
  /** Of all other members; empty for some seconds after a start. */
  readonly others: readonly MemberId[];
}

/** What a member counts since it started. */
export interface MemberCounters {
  /** The first leader that it sees is one. */
  readonly leaderChanges: number;
  readonly failedProposals: number;
  /** Of the write-ahead log; slow ones took longer than asked for. */
  readonly fsyncs: number;
  readonly slowFsyncs: number;
  /** Of the database. */
  readonly commits: number;
  readonly slowCommits: number;
}

/** From which time on something is slow, in milliseconds: a bound of etcd's own buckets. Absent: nothing is. */
export interface SlowAbove {
  readonly fsyncMs?: number;
  readonly commitMs?: number;
}

export interface EtcdCallOptions {
  readonly signal: AbortSignal;
}

/**
 * For a change. It is sent once, to one endpoint, and never repeated in here: after an `ambiguous` the caller looks
 * again (`members` behind a barrier, `alarms`, `status`) before anything else.
 */
export interface EtcdChangeOptions extends EtcdCallOptions {
  /** The cluster that is meant: an endpoint whose address has gone to a pod of another cluster is not asked. */
  readonly clusterId: string;
  /** For the change itself, in milliseconds; finding the endpoint takes up to two more reads. Default: 5,000. */
  readonly timeoutMs?: number;
}

/** One cluster's etcd. Endpoints are client URLs, e.g. `http://10.244.0.7:2379`. */
export interface Etcd {
  /** Linearizable, from any of the endpoints. @throws {EtcdError} when there is no quorum in time. */
  members(endpoints: readonly string[], options: EtcdCallOptions & { readonly barrier?: boolean }): Promise<MemberList>;
  /** What one member last knew, also without a quorum: may be old. @throws {EtcdError} when none answers. */
  lastMembers(endpoints: readonly string[], options: EtcdCallOptions): Promise<MemberList>;
  /** Asked of this endpoint and no other. @throws {EtcdError} */
  status(endpoint: string, options: EtcdCallOptions): Promise<EndpointStatus>;
  /** Asked of this endpoint and no other. @throws {EtcdError} */
  version(endpoint: string, options: EtcdCallOptions): Promise<EndpointVersion>;
  /** Of the member with this client URL, from its metrics port, without TLS. @throws {EtcdError} */
  metrics(endpoint: string, options: EtcdCallOptions): Promise<MemberMetrics>;
  /** As `metrics`. @throws {EtcdError} */
  counters(endpoint: string, options: EtcdCallOptions & { readonly slow: SlowAbove }): Promise<MemberCounters>;
  close(): void;
}

/** Why the answer is no, in one word: etcd's api/v3rpc/rpctypes, and what is not even sent. */
export type Refusal =
  | 'TooManyLearners'
  | 'UnhealthyCluster'
  | 'PeerUrlExists'
  | 'MemberIdExists'
  | 'BadUrls'
  | 'NotEnoughStarted'
  | 'NotInSync'
  | 'NotALearner'
  | 'MemberNotFound'
  | 'NoLeader'
  | 'NotLeader'
  | 'BadTransferee'
  | 'NotSupportedByLearner'
  | 'ClusterIdMismatch'
  | 'Compacted'
  | 'FutureRevision'
  | 'NoSpace'
  | 'CorruptCluster'
  | 'TooManyRequests'
  | 'PermissionDenied'
  | 'UserNeeded'
  | 'UserExists'
  | 'NoSuchUser'
  | 'RoleExists'
  | 'NoSuchRole'
  | 'NotGranted'
  | 'RootNeeded'
  // Not sent:
  | 'IsLeader'
  | 'AnotherMember';

/** How to be known to a cluster that speaks TLS, and how to know it. All of it PEM. */
export interface EtcdTls {
  /** The CAs that may have signed what the members present: any number of certificates. */
  readonly ca: string;
  /** Ours, followed by its intermediates. Empty, like `key`: we present none. */
  readonly cert: string;
  readonly key: string;
  /** The DNS name that the endpoint's certificate must bear; the endpoint itself is dialled by address. */
  readonly serverName: (endpoint: string) => string;
}

/** A problem between us and an endpoint that lives: it can be cured without touching the member's data. */
export type TlsProblem =
  | 'CertificateExpired'
  | 'CertificateNotYetValid'
  | 'WrongAuthority'
  | 'NameMismatch'
  | 'ClientCertificateRefused'
  | 'PlaintextOnTlsPort'
  | 'TlsOnPlaintextPort'
  | 'HandshakeFailed';

/**
 * `ambiguous`: it may have had its effect, or may have it yet. `down`: nothing reached etcd. `refused`: it had none.
 */
export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  readonly outcome: 'down' | 'ambiguous' | 'refused';
  /** The endpoint is reachable, but the TLS handshake with it fails. */
  declare readonly tls?: TlsProblem;
  /** Why it was refused, if that is a known reason. */
  declare readonly reason?: Refusal;

  constructor(message: string, outcome: EtcdError['outcome'], cause?: unknown, tls?: TlsProblem, reason?: Refusal) {
    super(message, { cause });
    this.outcome = outcome;
    if (tls !== undefined) this.tls = tls;
    if (reason !== undefined) this.reason = reason;
  }
}
