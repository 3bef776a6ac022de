import { EtcdError, type Refusal } from '../interfaces/etcd.ts';
import { sentenceFor, type TlsFinding, type TlsParties, tlsProblemIn } from './tls-problems.ts';

/**
 * etcd answered that it does not know the outcome: the proposal may still be applied. ErrGRPCTimeout and its kin,
 * ErrGRPCLeaderChanged and ErrGRPCStopped (api/v3rpc/rpctypes); ErrCanceled of etcdserver, when it stops waiting;
 * ErrStopped of raft.
 */
const undecided =
  /etcdserver: (request timed out|request cancell?ed|context deadline exceeded|leader changed|server stopped|server is stopping)|raft: stopped/;

/** Raised before a connection existed, so that no request can have got anywhere. */
const neverConnected =
  /ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|Name resolution failed|No connection established/;

/**
 * Classifies an error of etcd3, gRPC or the network: the class of etcd3's errors says less than their words.
 * @param parties of the TLS connection; none in plaintext
 */
export function etcdError(call: string, endpoint: string, cause: unknown, parties?: TlsParties): EtcdError {
  if (cause instanceof EtcdError) return cause;
  const words = cause instanceof Error ? cause.message : String(cause);
  const finding = parties && !isAnswer(words) ? tlsProblemIn(words) : undefined;
  if (finding === undefined || parties === undefined) {
    const outcome = outcomeOf(words);
    const reason = outcome === 'refused' ? refusalIn(words) : undefined;
    return new EtcdError(`${call} at ${endpoint}: ${lasting(words).slice(0, 500)}`, outcome, cause, undefined, reason);
  }
  return tlsError(call, endpoint, finding, parties, finding.unread ? 'down' : outcomeOf(words));
}

/** Without a cause: node:tls hangs the certificate on its errors. The finding's words say all that it would. */
export function tlsError(
  call: string,
  endpoint: string,
  finding: TlsFinding,
  parties: TlsParties,
  outcome: EtcdError['outcome'],
): EtcdError {
  return new EtcdError(`${call} at ${endpoint}: ${sentenceFor(finding, parties)}`, outcome, undefined, finding.problem);
}

/** gRPC adds the time and an empty note: a message that ends up in a status must not differ at every attempt. */
function lasting(words: string): string {
  return words.replace(/ \(\d{4}-\d\d-\d\dT[\d:.]+Z\)/g, '').replace(/\.? Resolution note: *$/, '');
}

function isAnswer(words: string): boolean {
  return /etcdserver:|rpc not supported|raft:/.test(words);
}

function outcomeOf(words: string): EtcdError['outcome'] {
  if (isAnswer(words)) return undecided.test(words) ? 'ambiguous' : 'refused';
  if (neverConnected.test(words)) return 'down';
  return 'ambiguous';
}

/** Every endpoint failed: one error that names each, and says the worst that may have happened. */
export function allFailed(call: string, failures: readonly EtcdError[]): EtcdError {
  const [first] = failures;
  if (failures.length === 1 && first !== undefined) return first;
  const outcomes = new Set(failures.map(({ outcome }) => outcome));
  const worst = (['ambiguous', 'refused', 'down'] as const).find((outcome) => outcomes.has(outcome)) ?? 'down';
  const list = failures.map(({ message }) => message).join('; ');
  const { tls, reason } = shared(failures);
  return new EtcdError(`${call}: none of ${failures.length} endpoints answered: ${list}`, worst, failures, tls, reason);
}

/** A change that was not sent, because reads before it failed: nothing was changed. */
export function notSent(call: string, failures: readonly EtcdError[]): EtcdError {
  const { tls, reason } = shared(failures);
  const words = failures.map(({ message }) => message).join('; ');
  const certain = failures.every(({ outcome }) => outcome === 'refused');
  return new EtcdError(`${call}: not sent: ${words}`, certain ? 'refused' : 'down', failures, tls, reason);
}

/** One word for all of them only if it is the same for all: with a dead member among them, it would not be why. */
function shared(failures: readonly EtcdError[]): Pick<EtcdError, 'tls' | 'reason'> {
  const [first] = failures;
  const tls = failures.every((failure) => failure.tls === first?.tls) ? first?.tls : undefined;
  const reason = failures.every((failure) => failure.reason === first?.reason) ? first?.reason : undefined;
  return { ...(tls && { tls }), ...(reason && { reason }) };
}

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
  // Also of a user that is asked about: etcd-auth.ts tells them apart.
  ['user name not found', 'UserNeeded'],
  ['user name already exists', 'UserExists'],
  ['role name already exists', 'RoleExists'],
  ['role name not found', 'NoSuchRole'],
  ['role is not granted to the user', 'NotGranted'],
  ['permission is not granted to the role', 'NotGranted'],
  ['root user does not exist', 'RootNeeded'],
  ['root user does not have root role', 'RootNeeded'],
  // Root would go while authentication is on.
  ['invalid auth management', 'RootNeeded'],
]);

/** The reason in one word; undefined when etcd gave none that is known. */
function refusalIn(words: string): Refusal | undefined {
  // To the end, for some of these sentences begin like another one.
  const sentence = /etcdserver: (.*)$/s.exec(words)?.[1]?.trim();
  return sentence === undefined ? undefined : refusals.get(sentence);
}
