import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { failureOf } from '../../../reconcile/cluster/know/outcome.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { statusFor } from '../../../reconcile/cluster/report/status.ts';
import { KubeError } from '../../../reconcile/interfaces/kube.ts';
import type { Failure } from '../../../reconcile/requests/refusals.ts';

/** The same cluster, looked at again after the API server has refused what was decided. */
export function withRefused(observation: Observation, decision: Decision, failure = forbidden): Observation {
  const status = statusFor(situate(observation), decision, { kind: 'failed', failure });
  return { ...observation, cluster: { ...observation.cluster, status } };
}

export const forbidden = refusalOf(403, 'Forbidden');

/** What comes of such an answer to a write. */
export function refusalOf(status: number, reason: string): Failure {
  return failureOf(new KubeError(`POST things: ${status} ${reason}`, { class: 'terminal', status, reason }));
}

/**
 * What comes of an answer that may pass by itself, or that wants another look: an admission webhook that is broken, a
 * raw 409.
 */
export function failureFor(status: number, reason: string): Failure {
  const kind = status === 409 ? 'precondition' : 'retryable';
  return failureOf(new KubeError(`POST things: ${status} ${reason}`, { class: kind, status, reason }));
}

/** Whatever is decided fails like this at one look a minute, until `isReached`; every decision on the way. */
export function failingUntil(
  observation: Observation,
  isReached: (decision: Decision) => boolean,
  failure: Failure,
  looks = 60,
): readonly Decision[] {
  const decisions: Decision[] = [];
  let seen = observation;
  for (let look = 0; look < looks; look += 1) {
    const decision = decide(seen);
    decisions.push(decision);
    if (isReached(decision)) break;
    if (decision.kind === 'act') seen = withRefused(seen, decision, failure);
    seen = { ...seen, at: new Date(seen.at.getTime() + 60_000) };
  }
  return decisions;
}

/** Whatever is decided is refused, until `isReached`; every decision on the way. */
export function refusedUntil(
  observation: Observation,
  isReached: (decision: Decision) => boolean,
  failure: Failure = forbidden,
): readonly Decision[] {
  const decisions: Decision[] = [];
  let seen = observation;
  for (let tries = 0; tries < 40; tries += 1) {
    const decision = decide(seen);
    decisions.push(decision);
    if (isReached(decision) || decision.kind !== 'act') break;
    seen = withRefused(seen, decision, failure);
  }
  return decisions;
}
