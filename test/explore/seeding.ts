import type { RequestKind } from '../../reconcile/cluster/act/requests/all.ts';
import { decide, rules } from '../../reconcile/cluster/decide/decide.ts';
import type { Action, ActionKind } from '../../reconcile/cluster/know/action.ts';
import type { Decision } from '../../reconcile/cluster/know/decision.ts';
import { type Rule, situate } from '../../reconcile/cluster/know/situation.ts';
import type { Request, Program as Requests } from '../../reconcile/requests/program.ts';
import type { Code } from './model/code.ts';
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

/** The same lines, with other requests, or other answers, in the place of some. */
export type Edit = (request: Request, action: Action) => Requests<unknown> | undefined;

export function edited(code: Code, kind: ActionKind, edit: Edit): Code {
  return {
    ...code,
    run: (action, claimed) => {
      const program = code.run(action, claimed);
      return action.kind === kind ? editing(program, action, edit) : program;
    },
  };
}

function* editing<R>(program: Requests<R>, action: Action, edit: Edit): Requests<R> {
  let step = program.next();
  while (!step.done) {
    const { value } = step;
    const answer: unknown =
      'sideBySide' in value
        ? yield { sideBySide: value.sideBySide.map((one) => editing(one, action, edit)) }
        : yield* edit(value, action) ?? passedOn(value);
    step = program.next(answer);
  }
  return step.value;
}

export function* passedOn(request: Request): Requests<unknown> {
  return yield request;
}

/** Nothing that is read again just before stops it: to these questions it gets these answers. */
export function unchecked(
  code: Code,
  kind: ActionKind,
  forged: { readonly [K in RequestKind]?: (answer: never, action: never) => unknown },
): Code {
  return edited(code, kind, (request, action) => {
    const forge = forged[request.kind as RequestKind] as ((answer: unknown, action: Action) => unknown) | undefined;
    return forge && answered(request, (answer) => forge(answer, action));
  });
}

function* answered(request: Request, forge: (answer: unknown) => unknown): Requests<unknown> {
  return forge(yield* passedOn(request));
}

/** It is not sent, and counts as done. */
// biome-ignore lint/correctness/useYield: it asks for nothing
export function* undone(): Requests<unknown> {
  return undefined;
}
