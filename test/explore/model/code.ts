import type { Action } from '../../../reconcile/cluster/actions.ts';
import { decide, type Situation, situate } from '../../../reconcile/cluster/decide.ts';
import type { Decision } from '../../../reconcile/cluster/decision.ts';
import type { Observation } from '../../../reconcile/cluster/observation.ts';
import type { Program } from '../programs/program.ts';
import { programOf } from '../programs/programs.ts';
import type { Nature } from './recovery.ts';

/** What is searched: the real rules, and actions as they are carried out. A seeded bug is another one of these. */
export interface Code extends Nature {
  readonly decide: (observation: Observation) => Decision;
  readonly situate: (observation: Observation) => Situation;
  readonly programOf: (action: Action) => Program;
  /** A claim is refused when the resource has been written since it was looked at. */
  readonly comparesClaims: boolean;
  /** What arrives late is refused when its object has been written since it was read. */
  readonly fencesWrites: boolean;
  /** Those that a recovery left behind are told from what the others remember of them. */
  readonly remembersOutvoted: boolean;
}

export function realCode(): Code {
  const programs = new WeakMap<Action, Program>();
  return {
    decide,
    situate,
    programOf: (action) => {
      let program = programs.get(action);
      if (!program) {
        program = programOf(action);
        programs.set(action, program);
      }
      return program;
    },
    comparesClaims: true,
    fencesWrites: true,
    remembersOutvoted: true,
    countsAttempts: true,
  };
}
