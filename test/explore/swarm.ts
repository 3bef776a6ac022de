import { createHash } from 'node:crypto';
import { chanceFrom, chosen, faultyOf, goesTwoWays, nextOf } from './chance.ts';
import { type Code, realCode } from './model/code.ts';
import { modelOf } from './model/model.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';
import type { Violation } from './search/search.ts';

/**
 * Walks through any scenario, each with a random subset of all faults: deeper than a search, and with fewer kinds at a
 * time than a walk with all of them, which would mostly see the common ones.
 */
export interface Swarmed {
  readonly runs: number;
  readonly events: number;
  /** Of all that happened: the same for the same seed. */
  readonly trace: string;
  readonly found?: {
    readonly scenario: string;
    /** With this seed it is the first walk. */
    readonly seed: number;
    readonly violation: Violation;
    readonly story: readonly string[];
  };
}

interface Swarm {
  readonly code?: Code;
  readonly among?: readonly Scenario[];
}

const eventsOfARun = 120;
/** So many walks are gone twice. */
const oneIn = 10;

export function swarm(runs: number, seed: number, { code = realCode(), among = scenarios }: Swarm = {}): Swarmed {
  const hash = createHash('sha256');
  let events = 0;
  for (let run = 0; run < runs; run += 1) {
    const mine = seed + run;
    const { scenario, story, ...walked } = walk(mine, code, among);
    events += story.length;
    hash.update(textOf({ scenario, story }));
    const isTwice = run % oneIn === 0 && walked.violation === undefined;
    const differs = isTwice && textOf(walk(mine, code, among)) !== textOf({ scenario, story });
    const violation = differs ? goesTwoWays(mine) : walked.violation;
    if (violation) {
      return { runs: run + 1, events, trace: hash.digest('hex'), found: { scenario, seed: mine, violation, story } };
    }
  }
  return { runs, events, trace: hash.digest('hex') };
}

function textOf({ scenario, story }: Pick<Walk, 'scenario' | 'story'>): string {
  return `${scenario}\n${story.join('\n')}\n`;
}

interface Walk {
  readonly scenario: string;
  readonly story: readonly string[];
  readonly violation?: Violation;
}

function walk(seed: number, code: Code, among: readonly Scenario[]): Walk {
  const chance = chanceFrom(seed);
  const scenario = faultyOf(chance, among);
  const model = modelOf(scenario, code);
  const base = { scenario: scenario.name, story: [] as string[] };
  let state = model.initial;
  while (base.story.length < eventsOfARun) {
    const [event, after] = chosen(nextOf(model, state), chance) ?? [];
    if (!event || !after) break;
    base.story.push(model.describe(event));
    const violation = model.judge(state, event, after) ?? model.examine(after);
    if (violation) return { ...base, violation };
    state = after;
  }
  return base;
}
