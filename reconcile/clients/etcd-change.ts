/** A call that changes something: which endpoint to ask, once and never again. */

import { type EndpointStatus, EtcdError, type MemberId, type Refusal } from '../interfaces/etcd.ts';
import type { EtcdChangeOptions } from '../interfaces/etcd-admin.ts';
import type { Calls, Question } from './etcd-calls.ts';
import { notSent } from './etcd-errors.ts';
import { fromAny, listMembers, readStatus } from './etcd-reading.ts';

const changeTimeoutMs = 5_000;

/** A voter that a quorum has just listened to. */
interface Serving {
  readonly endpoint: string;
  readonly memberId: MemberId;
  readonly leader: MemberId;
}

export interface Change<T> {
  /** What it is, for messages: `add learner http://…`. */
  readonly call: string;
  readonly endpoints: readonly string[];
  readonly options: EtcdChangeOptions;
  /** May be sent to the leader only. */
  readonly leaderOnly?: boolean;
  /** The last look before it is sent: throws what `notToBeSent` makes, or gives a value when nothing is left to do. */
  readonly admit?: (serving: Serving) => { readonly done: T } | undefined;
  readonly run: Question<T>;
}

/** Sent to the leader, which knows whether a learner is in sync; to another voter only without a leader's endpoint. */
export async function change<T>(calls: Calls, { call, endpoints, options, ...rest }: Change<T>): Promise<T> {
  const { signal, timeoutMs = changeTimeoutMs } = options;
  const serving = await servingVoter(calls, call, endpoints, options, rest.leaderOnly ?? false);
  const admitted = rest.admit?.(serving);
  if (admitted !== undefined) return admitted.done;
  return calls.ask(call, serving.endpoint, signal, rest.run, timeoutMs);
}

export function notToBeSent(call: string, endpoint: string, reason: Refusal, words: string): EtcdError {
  return new EtcdError(`${call} at ${endpoint}: not sent: ${words}`, 'refused', undefined, undefined, reason);
}

async function servingVoter(
  calls: Calls,
  call: string,
  endpoints: readonly string[],
  { signal, clusterId }: EtcdChangeOptions,
  leaderOnly: boolean,
): Promise<Serving> {
  const find = (wanted: 'leader' | 'voter') =>
    fromAny(call, endpoints, signal, (endpoint, attempt) => proven(endpoint, attempt, wanted), notSent);
  if (leaderOnly) return find('leader');
  // Status is a member's own opinion; where no leader proves itself, it is the voters that are asked for proof.
  return find('leader').catch((error: unknown) => {
    if (signal.aborted) throw error;
    return find('voter');
  });

  async function proven(endpoint: string, attempt: AbortSignal, wanted: 'leader' | 'voter'): Promise<Serving> {
    const status = await readStatus(calls, endpoint, attempt);
    const why = whyNot(endpoint, status, clusterId, wanted);
    if (why !== undefined) throw why;
    // A leader that was cut off or frozen may not know yet that there is another; only with a quorum does this answer.
    await listMembers(calls, endpoint, attempt);
    return { endpoint, memberId: status.memberId, leader: status.leader };
  }
}

function whyNot(
  endpoint: string,
  { clusterId: actual, memberId, leader, isLearner }: EndpointStatus,
  clusterId: string,
  wanted: 'leader' | 'voter',
): EtcdError | undefined {
  if (actual !== clusterId) return anotherCluster(endpoint, actual, clusterId);
  if (isLearner) return unfit(endpoint, 'NotSupportedByLearner', `${memberId} is a learner`);
  if (wanted === 'leader' && memberId !== leader)
    return unfit(
      endpoint,
      'NotLeader',
      leader === '0' ? `${memberId} knows no leader` : `${memberId} follows ${leader}`,
    );
  return undefined;
}

export function anotherCluster(endpoint: string, actual: string, wanted: string): EtcdError {
  return unfit(endpoint, 'ClusterIdMismatch', `it belongs to cluster ${actual}, not to ${wanted}`);
}

function unfit(endpoint: string, reason: Refusal, words: string): EtcdError {
  return new EtcdError(`${endpoint}: ${words}`, 'refused', undefined, undefined, reason);
}
