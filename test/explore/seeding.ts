import type { Action, ActionKind } from '../../reconcile/cluster/actions.ts';
import { decide, type Rule, rules, situate } from '../../reconcile/cluster/decide.ts';
import type { Decision } from '../../reconcile/cluster/decision.ts';
import type { Code } from './model/code.ts';
import type { Operation, Program } from './programs/program.ts';
import type { Scenario } from './scenario.ts';

/** How a bug is put in. */
export interface Bug {
  readonly name: string;
  readonly what: string;
  /** What it violates. */
  readonly violates: string;
  /** Where it is found, and with which faults. */
  readonly scenario: string;
  readonly faults: Scenario['faults'];
  readonly seed: (code: Code) => Code;
}

/** The same rules, one of them replaced. */
export function instead(code: Code, name: (typeof rules)[number]['name'], rule: Rule): Code {
  const changed = rules.map((one): Rule => (one.name === name ? rule : one));
  return { ...code, decide: (observation) => first(changed, situate(observation)) };
}

export function first(list: readonly Rule[], situation: ReturnType<typeof situate>): Decision {
  for (const rule of list) {
    const decision = rule(situation);
    if (decision) return decision;
  }
  return decide(situation);
}

/** The same actions, one kind carried out otherwise. */
export function mapped(code: Code, kind: ActionKind, change: (program: Program, action: Action) => Program): Code {
  const known = new WeakMap<Action, Program>();
  return {
    ...code,
    programOf: (action) => {
      if (action.kind !== kind) return code.programOf(action);
      const program = known.get(action) ?? change(code.programOf(action), action);
      known.set(action, program);
      return program;
    },
  };
}

/** Nothing that is read again just before stops it. */
export function unchecked(code: Code, kind: ActionKind): Code {
  const careless = ({ check, ...operation }: Operation): Operation => ({
    ...operation,
    ...(check && {
      check: (world) => {
        const found = check(world);
        return typeof found === 'object' ? 'go' : found;
      },
    }),
  });
  return mapped(code, kind, (program) => program.map(careless));
}
