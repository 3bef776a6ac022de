import type { Decision } from '../know/decision.ts';
import type { Observation } from '../know/observation.ts';
import { type Situation, situate } from '../know/situation.ts';
import { statusFor } from '../report/status.ts';
import { carriedOut } from './run.ts';
import { settle } from './settle.ts';

/**
 * The ideal next observation: the decision is carried out and reported in status, and Kubernetes and etcd have
 * responded.
 *
 * Where the decision is to wait: only the response. The very same observation, if that had happened already.
 */
export function simulate(observation: Observation, decision: Decision): Observation {
  switch (decision.kind) {
    case 'act': {
      const situation = situate(observation);
      const done = carriedOut(decision.action, observation);
      return settle(reported({ ...done, lease: { kind: 'free' } }, situation, decision));
    }
    case 'wait':
      return settle(observation);
    case 'refuse':
    case 'done':
      return observation;
  }
}

/**
 * Rules read from status which members have been unhealthy since when, and what was tried. That a wait outlasts its
 * grace is not foreseen: only what lasts already is told.
 */
export function reported(observation: Observation, situation: Situation, decision: Decision): Observation {
  const outcome = { kind: decision.kind === 'act' ? 'acted' : 'none' } as const;
  const { lastDecision, plan: _, ...rest } = statusFor(situation, decision, outcome);
  if (!lastDecision) return { ...observation, cluster: { ...observation.cluster, status: rest } };
  const { waitingSince: __, ...decided } = lastDecision;
  return { ...observation, cluster: { ...observation.cluster, status: { ...rest, lastDecision: decided } } };
}
