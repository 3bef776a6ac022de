import type { Etcd, EtcdCallOptions, EtcdChangeOptions, EtcdError, MemberId } from './etcd.ts';
import type { EtcdAuth } from './etcd-auth.ts';

export type { EtcdChangeOptions } from './etcd.ts';

export interface KvHash {
  /** The member that answered. */
  readonly memberId: MemberId;
  readonly clusterId: string;
  /** Over the keys and values up to `hashRevision` that the compaction up to `compactRevision` has left. */
  readonly hash: number;
  readonly hashRevision: bigint;
  /**
   * Hashes are comparable only where this is the same; `-1`: nothing had been compacted. A member that compacted up to
   * exactly `hashRevision` gives an earlier hash until it restarts: ask about revisions that no compaction ended at.
   */
  readonly compactRevision: bigint;
}

export interface Alarm {
  /** `0` where etcd blames no member, as its own corruption check may. */
  readonly memberId: MemberId;
  readonly alarm: 'NOSPACE' | 'CORRUPT';
}

/**
 * etcd's calls for changes. The endpoints are candidates: the change goes to the leader, found by its status and proven
 * by a linearizable read; if it is not among those reached, to a voter with the same proof; never to a learner, which
 * refuses, nor to a member of another cluster. All throw an {@link EtcdError}: `down`, it was not sent; `refused` with
 * a `reason`, it was certainly not made; `ambiguous`, it may have been made or may be yet.
 */
export interface EtcdAdmin extends Etcd, EtcdAuth {
  /**
   * Adds a learner with this peer URL, and gives its ID. After `ambiguous`: list behind a barrier and look for the URL;
   * the learner may still come while the endpoint that was asked holds the request. @throws {EtcdError} refused:
   * `UnhealthyCluster` (also for 5 s after members started), `TooManyLearners`, `BadUrls`, `PeerUrlExists`. An ID is
   * made of the peer URL and the second: within that second it is `MemberIdExists` instead, and after a removal in it
   * `MemberNotFound`. Ask again later.
   */
  addLearner(endpoints: readonly string[], peerUrl: string, options: EtcdChangeOptions): Promise<MemberId>;
  /**
   * Makes a learner a voter. @throws {EtcdError} refused: `NotInSync` (also while it has not started), `NotALearner`
   * (it is a voter, perhaps by this very call: etcd repeats what it forwards), `MemberNotFound`, `NotEnoughStarted`
   */
  promote(endpoints: readonly string[], memberId: MemberId, options: EtcdChangeOptions): Promise<void>;
  /**
   * Removes a member, for ever. That may happen long after its deadline, once there is a quorum again, or a frozen
   * endpoint goes on: after `ambiguous` it can only be finished, never undone. @throws {EtcdError} refused: `IsLeader`
   * (move leadership first: not sent), `MemberNotFound` (also when it was removed before), `UnhealthyCluster` (also for
   * 5 s after a member connected), `NotEnoughStarted`
   */
  remove(endpoints: readonly string[], memberId: MemberId, options: EtcdChangeOptions): Promise<void>;
  /**
   * Hands leadership to a voter; done at once if it leads already. Writes wait meanwhile, and for an election timeout
   * if the target does not answer: choose a healthy one. @throws {EtcdError} refused: `NotLeader` (none of the
   * endpoints is the leader's: not sent), `BadTransferee` (a learner, or no member)
   */
  moveLeader(endpoints: readonly string[], targetId: MemberId, options: EtcdChangeOptions): Promise<void>;
  /**
   * Hash of all keys up to a revision, of this endpoint. Reads the whole database: 30 s (`timeoutMs`) by default.
   * @throws {EtcdError} refused: `Compacted`, `FutureRevision` (a follower may lag), `NotSupportedByLearner`
   */
  hashKv(
    endpoint: string,
    options: EtcdCallOptions & { readonly revision: bigint; readonly timeoutMs?: number },
  ): Promise<KvHash>;
  /**
   * Gives unused pages back to the file system. The member answers no requests meanwhile, and goes on after our
   * deadline: by default 60 s (`timeoutMs`).
   * @param options `memberId`: the member that must live at this endpoint
   * @throws {EtcdError} refused: `AnotherMember` (not sent), `NotSupportedByLearner`
   */
  defragment(
    endpoint: string,
    options: EtcdCallOptions & { readonly memberId: MemberId; readonly timeoutMs?: number },
  ): Promise<void>;
  /**
   * Every raised alarm, from any endpoint of the cluster. A proposal itself: it needs a quorum, and is answered when
   * all earlier proposals are decided. @throws {EtcdError} refused: `ClusterIdMismatch`, `NotSupportedByLearner`
   */
  alarms(
    endpoints: readonly string[],
    options: EtcdCallOptions & Pick<EtcdChangeOptions, 'clusterId'>,
  ): Promise<readonly Alarm[]>;
  /**
   * Whether there is history before `revision` to compact: a linearizable read of nothing, from any endpoint of the
   * cluster. @throws {EtcdError} refused: `ClusterIdMismatch`, `FutureRevision`
   */
  hasHistory(
    endpoints: readonly string[],
    revision: bigint,
    options: EtcdCallOptions & Pick<EtcdChangeOptions, 'clusterId'>,
  ): Promise<boolean>;
  /** Takes one alarm back, whether or not it is raised. etcd does not look whether its cause is gone. */
  disarm(endpoints: readonly string[], alarm: Alarm, options: EtcdChangeOptions): Promise<void>;
  /**
   * Compacts history before `revision`, and waits until the asked member has dropped it; the others do so in their own
   * time, so that defragmenting them right after may gain less. `dbSizeInUse` follows with later writes. Goes on after
   * our deadline. @throws {EtcdError} refused: `Compacted` (it is done already), `FutureRevision`
   */
  compact(endpoints: readonly string[], revision: bigint, options: EtcdChangeOptions): Promise<void>;
}
