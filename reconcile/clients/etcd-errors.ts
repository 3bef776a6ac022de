import { EtcdError } from '../etcd.ts';

/**
 * etcd answered, but with "I do not know": a proposal of ours may still be carried out.
 *
 * ErrGRPCTimeout and its kin, ErrGRPCLeaderChanged and ErrGRPCStopped of etcd's api/v3rpc/rpctypes.
 */
const undecided = /etcdserver: (request timed out|leader changed|server stopped|server is stopping)/;

/** Raised before a connection existed, so that no request can have got anywhere. */
const neverConnected =
  /ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|Name resolution failed|No connection established/;

/** Classifies once what etcd3, gRPC or the network said. The class of etcd3's errors says less than their words do. */
export function etcdError(call: string, endpoint: string, cause: unknown): EtcdError {
  if (cause instanceof EtcdError) return cause;
  const words = cause instanceof Error ? cause.message : String(cause);
  return new EtcdError(`${call} at ${endpoint}: ${words.slice(0, 500)}`, outcomeOf(words), cause);
}

function outcomeOf(words: string): EtcdError['outcome'] {
  if (/etcdserver:|rpc not supported|raft:/.test(words)) return undecided.test(words) ? 'ambiguous' : 'refused';
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
  return new EtcdError(`${call}: none of ${failures.length} endpoints answered: ${list}`, worst, failures);
}
