import type { Refusal } from '../interfaces/etcd.ts';

/** etcd's api/v3rpc/rpctypes, the same on 3.5, 3.6 and 3.7. The codes say less: one of these comes as "unknown". */
const refusals: ReadonlyMap<string, Refusal> = new Map([
  ['too many learner members in cluster', 'TooManyLearners'],
  ['unhealthy cluster', 'UnhealthyCluster'],
  ['Peer URLs already exists', 'PeerUrlExists'],
  ['member ID already exist', 'MemberIdExists'],
  ['given member URLs are invalid', 'BadUrls'],
  ['re-configuration failed due to not enough started members', 'NotEnoughStarted'],
  ['can only promote a learner member which is in sync with leader', 'NotInSync'],
  ['can only promote a learner member', 'NotALearner'],
  ['member not found', 'MemberNotFound'],
  ['no leader', 'NoLeader'],
  ['not leader', 'NotLeader'],
  ['bad leader transferee', 'BadTransferee'],
  ['rpc not supported for learner', 'NotSupportedByLearner'],
  ['cluster ID mismatch', 'ClusterIdMismatch'],
  ['mvcc: required revision has been compacted', 'Compacted'],
  ['mvcc: required revision is a future revision', 'FutureRevision'],
  ['mvcc: database space exceeded', 'NoSpace'],
  ['corrupt cluster', 'CorruptCluster'],
  ['too many requests', 'TooManyRequests'],
  ['permission denied', 'PermissionDenied'],
  ['user name is empty', 'UserNeeded'],
]);

/** The reason in one word; undefined when etcd gave none that is known. */
export function refusalIn(words: string): Refusal | undefined {
  // To the end, for some of these sentences begin like another one.
  const sentence = /etcdserver: (.*)$/s.exec(words)?.[1]?.trim();
  return sentence === undefined ? undefined : refusals.get(sentence);
}
