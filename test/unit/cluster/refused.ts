import { decide, situate } from '../../../reconcile/cluster/decide.ts';
import type { Decision } from '../../../reconcile/cluster/decision.ts';
import type { Observation } from '../../../reconcile/cluster/observation.ts';
import { type Failure, failureOf } from '../../../reconcile/cluster/outcome.ts';
import { statusFor } from '../../../reconcile/cluster/status.ts';
import { KubeError } from '../../../reconcile/kube.ts';

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
