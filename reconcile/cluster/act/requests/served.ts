import { didNotAnswer, refusedByEtcd, unreachable } from '../../../requests/refusals.ts';
import { moved } from '../../know/outcome.ts';
import type { Host } from './host.ts';

/** How etcd is there, or is not, for what the models of requests ask of it. */

/**
 * A quorum of the cluster that is meant answers.
 *
 * @throws {StepError} as etcd's client does: a change is not sent where none proves itself; whether a member that is
 * alone heard a question is not known.
 */
export function requireServed<S>(state: S, clusterId: string, { etcd }: Host<S>, what: 'change' | 'question'): void {
  const list = etcd.list(state);
  if (!list) throw what === 'question' && etcd.members(state).length > 0 ? didNotAnswer() : unreachable();
  if (list.clusterId !== clusterId)
    throw refusedByEtcd('ClusterIdMismatch', `etcd cluster ${list.clusterId} answers, and not ${clusterId}`);
}

/** All that run answer for themselves. @throws {StepError} */
export function requireNoneSilent<S>(state: S, { etcd }: Host<S>): void {
  if (etcd.silent(state).length > 0) throw unreachable();
}

/** Each of these answers, as a member of this cluster. @throws {StepError} */
export function requireAnswers<S>(
  state: S,
  { clusterId, memberIds }: { readonly clusterId: string; readonly memberIds: readonly string[] },
  { etcd }: Host<S>,
): void {
  const answering = etcd.members(state).filter((one) => one.clusterId === clusterId);
  for (const id of memberIds) {
    if (!answering.some(({ memberId }) => memberId === id))
      throw moved(`member ${id} does not answer any more, so its data can't be compared`);
  }
}
