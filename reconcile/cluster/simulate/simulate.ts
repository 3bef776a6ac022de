import { type Situation, situate } from '../decide.ts';
import type { Decision } from '../decision.ts';
import type { Observation } from '../observation.ts';
import { statusFor } from '../status.ts';
import { effectsOf } from './effects.ts';
import { settle } from './settle.ts';

/**
 * The ideal next observation: what was decided is carried out, told in the status, and everybody has done his part.
 *
 * Where nothing was to be done but to wait: everybody has done his part. The very same observation, if that was so already.
 */
export function simulate(observation: Observation, decision: Decision): Observation {
  switch (decision.kind) {
    case 'act': {
      const situation = situate(observation);
      const done = effectsOf(decision.action, observation).reduce((seen, effect) => effect(seen), observation);
      return settle(reported({ ...done, claim: { kind: 'free' } }, situation, decision));
    }
    case 'wait':
      return settle(observation);
    case 'refuse':
    case 'done':
      return observation;
  }
}

/** Rules read of the status who has been unwell since when, and what was tried. */
export function reported(observation: Observation, situation: Situation, decision: Decision): Observation {
  const outcome = { kind: decision.kind === 'act' ? 'acted' : 'none' } as const;
  const status = statusFor(situation, decision, outcome);
  return { ...observation, cluster: { ...observation.cluster, status } };
}
