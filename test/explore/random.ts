import * as fc from 'fast-check';
import type { Code } from './model/code.ts';
import { realCode } from './model/code.ts';
import type { Event } from './model/event.ts';
import { modelOf } from './model/model.ts';
import type { State } from './model/state.ts';
import type { Scenario } from './scenario.ts';
import { wild } from './scenarios.ts';
import { type Model, retell, type Violation } from './search/search.ts';

/**
 * Deeper than any search: long walks at random through a cluster to which much happens, with many faults of all kinds.
 */
export interface Walked {
  readonly walks: number;
  readonly events: number;
  readonly seed: number;
  /** Of each walk, which of its successors each state was followed by. */
  readonly ways: readonly string[];
  readonly found?: { readonly violation: Violation; readonly story: readonly string[] };
}

export const eventsOfAWalk = 150;

export function walkAtRandom(
  walks: number,
  seed: number,
  { code = realCode(), among = wild }: { readonly code?: Code; readonly among?: readonly Scenario[] } = {},
): Walked {
  let events = 0;
  const ways: string[] = [];
  const models = new Map(among.map((scenario) => [scenario, modelOf(scenario, code)]));
  const modelFor = (scenario: Scenario) => models.get(scenario) ?? modelOf(scenario, code);
  const way = fc.array(fc.nat({ max: 2 ** 30 }), { minLength: eventsOfAWalk, maxLength: eventsOfAWalk });
  const details = fc.check(
    fc.property(fc.constantFrom(...among), way, (scenario, choices) => {
      const { turns, violation } = walk(modelFor(scenario), choices);
      events += turns.length;
      ways.push(`${scenario.name}: ${turns.join(' ')}`);
      return violation === undefined;
    }),
    { numRuns: walks, seed, endOnFailure: true },
  );
  const base = { walks: details.numRuns, events, seed, ways };
  if (!details.counterexample) return base;
  const [scenario, choices] = details.counterexample;
  const model = modelOf(scenario, code);
  const { turns, violation } = walk(model, choices);
  return violation ? { ...base, found: { violation, story: retell(model, turns) } } : base;
}

/** Whether the first of these walks, gone again, go the same way. */
export function goesAgain(
  { ways, seed }: Walked,
  walks: number,
  options?: Parameters<typeof walkAtRandom>[2],
): boolean {
  const again = walkAtRandom(walks, seed, options);
  return again.ways.every((way, index) => way === ways[index]);
}

interface Walk {
  /** Which of its successors each state was followed by. */
  readonly turns: readonly number[];
  readonly violation?: Violation;
}

function walk(model: Model<State, Event>, choices: readonly number[]): Walk {
  const turns: number[] = [];
  let state = model.initial;
  for (const choice of choices) {
    const next: (readonly [Event, State])[] = [];
    model.successors(state, (event, after) => next.push([event, after]));
    if (next.length === 0) break;
    const turn = choice % next.length;
    const [event, after] = next[turn] ?? [];
    if (!event || !after) break;
    turns.push(turn);
    const violation = model.judge(state, event, after) ?? model.examine(after);
    if (violation) return { turns, violation };
    state = after;
  }
  return { turns };
}
