import { definitionOf } from '../act/act.ts';
import { leasedOf } from '../act/actions/define.ts';
import { behaviourOf } from '../act/requests/all.ts';
import { begun } from '../act/requests/program.ts';
import type { Action } from '../know/action.ts';
import type { Observation } from '../know/observation.ts';
import { type Failure, StepError } from '../know/outcome.ts';
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
  let standing = begun(definitionOf(action).run(action, leasedOf(observation.cluster)));
  let now = observation;
  for (;;) {
    const { position } = standing;
    if (position.kind === 'ended') return { moments, failure: position.failure };
    if (position.kind === 'done') return { moments };
    const { kind, ask } = position.request;
    const behaviour = behaviourOf(kind);
    try {
      const done = behaviour.model(now, ask, observationHost);
      if (done === 'wait') {
        const settled = settle(now);
        if (settled === now) return { moments };
        now = settled;
        continue;
      }
      if (behaviour.writes) moments.push(done.state);
      now = done.state;
      standing = standing.after({ answer: done.answer });
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      standing = standing.after({ refused: error.failure });
    }
  }
}

export function momentsOf(action: Action, observation: Observation): CarriedOut['moments'] {
  return carryOut(action, observation).moments;
}

export function carriedOut(action: Action, observation: Observation): Observation {
  return momentsOf(action, observation).at(-1) ?? observation;
}
