import { writtenBy } from '../../requests/define.ts';
import { play } from '../../requests/play.ts';
import type { Failure } from '../../requests/refusals.ts';
import { definitionOf } from '../act/act.ts';
import { leasedOf } from '../act/actions/define.ts';
import { requests } from '../act/requests/all.ts';
import type { Action } from '../know/action.ts';
import type { Observation } from '../know/observation.ts';
import { observationHost } from './host.ts';
import { settle } from './settle.ts';

/** An action that was carried out where nothing disturbs it. */
export interface CarriedOut {
  /** The observation after each of its writes; before them the one that it began with. */
  readonly moments: readonly [Observation, ...Observation[]];
  /** Why it ended before its end: then the rule and the action see the same world otherwise. */
  readonly failure?: Failure;
}

export function carryOut(action: Action, observation: Observation): CarriedOut {
  const moments: [Observation, ...Observation[]] = [observation];
  const program = definitionOf(action).run(action, leasedOf(observation.cluster));
  const played = play(program, requests, observation, observationHost, {
    settle,
    onAnswered: (request, now) => {
      if (writtenBy(request, requests)) moments.push(now);
    },
  });
  return { moments, ...(played.kind === 'ended' && { failure: played.failure }) };
}

export function momentsOf(action: Action, observation: Observation): CarriedOut['moments'] {
  return carryOut(action, observation).moments;
}

export function carriedOut(action: Action, observation: Observation): Observation {
  return momentsOf(action, observation).at(-1) ?? observation;
}
