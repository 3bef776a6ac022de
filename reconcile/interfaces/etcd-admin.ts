import type { Etcd, EtcdCallOptions, EtcdError, MemberId } from './etcd.ts';

/**
 * For a call that changes something. Such a call is sent once, to one endpoint, and never repeated in here: after an
 * `ambiguous` the caller looks again (`members` behind a barrier, `alarms`, `status`) before anything else.
 */
export interface EtcdChangeOptions extends EtcdCallOptions {
  /**
   * The cluster that is meant. An address may have gone to a pod of another one since it was read: such an endpoint is
   * not asked for the change.
   */
  readonly clusterId: string;
  /** For the change itself, in milliseconds; finding the endpoint takes up to two more reads. Default: 5,000. */
  readonly timeoutMs?: number;
}

export interface KvHash {
  /** The member that answered. */
  readonly memberId: MemberId;
  readonly clusterId: string;
  /** Over the keys and values up to `hashRevision` that the compaction up to `compactRevision` has left. */
  readonly hash: number;
  readonly hashRevision: bigint;
  /**
   * Hashes are comparable only where this is the same; `-1` when nothing had been compacted. A member that compacted up
   * to exactly `hashRevision` gives the hash it took then, with the compaction before that one, until it restarts: ask
   * about revisions that nothing was compacted up to.
   */
  readonly compactRevision: bigint;
}

export interface Alarm {
  /** `0` where etcd blames no member, as its own corruption check may. */
  readonly memberId: MemberId;
  readonly alarm: 'NOSPACE' | 'CORRUPT';
}

/**
 * etcd's calls that change something, and what one has to know to make them. The endpoints are candidates: the change
 * goes to the leader, found by its status and proven by a linearizable read; if the leader is not among those reached,
 * to a voter with the same proof. Never to a learner, which refuses, and never to a member of another cluster.
 *
 * All throw an {@link EtcdError}: `down` when the change was not sent, `refused` with a `reason` when it is certain
 * that it was not made, `ambiguous` when it may have been made or may be yet.
 */
export interface EtcdAdmin extends Etcd {
  /**
   * Adds a learner that is to be reached by its peers at `peerUrl`, and gives its ID.
   *
   * After `ambiguous`: list behind a barrier and look for the peer URL; one that is not there then may still come while
   * the endpoint that was asked holds the request.
   *
   * @throws {EtcdError} refused: `UnhealthyCluster` (also for 5 s after members started), `TooManyLearners`, `BadUrls`,
   * `PeerUrlExists`. An ID is made of the peer URL and the second, so in the second in which that URL was added it is
   * `MemberIdExists` instead, and in the second in which it was added and removed again, `MemberNotFound`: ask again
   * later.
   */
  addLearner(endpoints: readonly string[], peerUrl: string, options: EtcdChangeOptions): Promise<MemberId>;
  /**
   * Makes a learner a voter.
   *
   * @throws {EtcdError} refused: `NotInSync` (also while it has not started), `NotALearner` (it is a voter, perhaps by
   * this very call: etcd repeats within itself what it passes on), `MemberNotFound`, `NotEnoughStarted`.
   */
  promote(endpoints: readonly string[], memberId: MemberId, options: EtcdChangeOptions): Promise<void>;
  /**
   * Takes a member out of the cluster, for ever. It may be carried out long after its deadline, once there is a quorum
   * again, or once an endpoint that was frozen goes on: after `ambiguous` it can only be finished, never undone.
   *
   * @throws {EtcdError} refused: `IsLeader` (move leadership first: not sent), `MemberNotFound` (also when it was
   * removed before), `UnhealthyCluster` (also for 5 s after a member connected), `NotEnoughStarted`.
   */
  remove(endpoints: readonly string[], memberId: MemberId, options: EtcdChangeOptions): Promise<void>;
  /**
   * Hands leadership to a voter; done at once if it leads already. Writes wait for as long as it takes, and for an
   * election timeout if the target does not answer: choose one that is healthy.
   *
   * @throws {EtcdError} refused: `NotLeader` (none of the endpoints is the leader's: not sent), `BadTransferee` (a
   * learner, or no member).
   */
  moveLeader(endpoints: readonly string[], targetId: MemberId, options: EtcdChangeOptions): Promise<void>;
  /**
   * Hash of all keys up to a revision, of this endpoint and no other. Reads the whole database: by default it may take
   * 30 s (`timeoutMs`).
   *
   * @throws {EtcdError} refused: `Compacted`, `FutureRevision` (a follower may not be there yet),
   * `NotSupportedByLearner`.
   */
  hashKv(
    endpoint: string,
    options: EtcdCallOptions & { readonly revision: bigint; readonly timeoutMs?: number },
  ): Promise<KvHash>;
  /**
   * Gives unused pages back to the file system. The member answers no requests meanwhile, and goes on after our
   * deadline: by default 60 s (`timeoutMs`).
   *
   * @param options `memberId`: the member that must live at this endpoint.
   * @throws {EtcdError} refused: `AnotherMember` (not sent), `NotSupportedByLearner`.
   */
  defragment(
    endpoint: string,
    options: EtcdCallOptions & { readonly memberId: MemberId; readonly timeoutMs?: number },
  ): Promise<void>;
  /**
   * Every alarm that is raised, from any of the endpoints that belong to the cluster. A proposal itself: it needs a
   * quorum, and is answered when all that was proposed before it is decided.
   *
   * @throws {EtcdError} refused: `ClusterIdMismatch`, `NotSupportedByLearner`.
   */
  alarms(
    endpoints: readonly string[],
    options: EtcdCallOptions & Pick<EtcdChangeOptions, 'clusterId'>,
  ): Promise<readonly Alarm[]>;
  /**
   * Whether a compaction up to `revision` would forget anything: not where all before it is forgotten already. A
   * linearizable read of nothing at all, from any of the endpoints that belong to the cluster.
   *
   * @throws {EtcdError} refused: `ClusterIdMismatch`, `FutureRevision`.
   */
  hasHistory(
    endpoints: readonly string[],
    revision: bigint,
    options: EtcdCallOptions & Pick<EtcdChangeOptions, 'clusterId'>,
  ): Promise<boolean>;
  /** Takes one alarm back, whether or not it is raised. etcd does not look whether its cause is gone. */
  disarm(endpoints: readonly string[], alarm: Alarm, options: EtcdChangeOptions): Promise<void>;
  /**
   * Forgets what was overwritten or deleted before `revision`, and waits until the asked member has dropped it from its
   * database; the others do so in their own time, so that a defragmentation of them right after may gain less.
   * `dbSizeInUse` follows with the writes after it. Goes on after our deadline.
   *
   * @throws {EtcdError} refused: `Compacted` (it is done already), `FutureRevision`.
   */
  compact(endpoints: readonly string[], revision: bigint, options: EtcdChangeOptions): Promise<void>;
}
