import { createHash } from 'node:crypto';
import { type Code, realCode } from './model/code.ts';
import type { Event } from './model/event.ts';
import type { FaultKind } from './model/fault-kind.ts';
import { worldFaults } from './model/faults.ts';
import { modelOf } from './model/model.ts';
import type { State } from './model/state.ts';
import { withRoom } from './model/worlds.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';
import type { Model, Violation } from './search/search.ts';

/**
 * Walks through any scenario, each with a random subset of all faults: deeper than a search, and with fewer kinds at a
 * time than a walk with all of them, which would mostly see the common ones.
 */
export interface Swarmed {
  readonly runs: number;
  readonly events: number;
  /** Of all that happened: the same for the same seed. */
  readonly trace: string;
  readonly found?: { readonly scenario: string; readonly violation: Violation; readonly story: readonly string[] };
}

interface Swarm {
  readonly code?: Code;
  readonly among?: readonly Scenario[];
}

const eventsOfARun = 120;

export function swarm(runs: number, seed: number, { code = realCode(), among = scenarios }: Swarm = {}): Swarmed {
  const random = randomFrom(seed);
  const hash = createHash('sha256');
  let events = 0;
  for (let run = 1; run <= runs; run += 1) {
    const scenario = randomly(random, among);
    const model = modelOf(scenario, code);
    const { story, violation } = walk(model, random);
    events += story.length;
    hash.update(`${scenario.name}\n${story.join('\n')}\n`);
    if (violation)
      return { runs: run, events, trace: hash.digest('hex'), found: { scenario: scenario.name, violation, story } };
  }
  return { runs, events, trace: hash.digest('hex') };
}

const ofInvocations = ['death', 'late', 'again', 'second'] as const satisfies readonly FaultKind[];
const kinds: readonly FaultKind[] = [...ofInvocations, ...(Object.keys(worldFaults) as (keyof typeof worldFaults)[])];

/** A fifth of all faults, one to three of them together. */
function randomly(random: () => number, among: readonly Scenario[]): Scenario {
  const scenario = among[below(random, among.length)];
  if (!scenario) throw new Error('there is no scenario');
  const faults = Object.fromEntries(kinds.filter(() => random() < 0.2).map((kind) => [kind, 2]));
  const atMost = 1 + below(random, 3);
  return { ...scenario, world: () => withRoom(scenario.world(), atMost), faults, atMost };
}

interface Walk {
  readonly story: readonly string[];
  readonly violation?: Violation;
}

function walk(model: Model<State, Event>, random: () => number): Walk {
  const story: string[] = [];
  let state = model.initial;
  while (story.length < eventsOfARun) {
    const next: (readonly [Event, State])[] = [];
    model.successors(state, (event, after) => next.push([event, after]));
    const [event, after] = chosen(next, random) ?? [];
    if (!event || !after) break;
    story.push(model.describe(event));
    const violation = model.judge(state, event, after) ?? model.examine(after);
    if (violation) return { story, violation };
    state = after;
  }
  return { story };
}

/** Of all that may happen most are faults: one in eight is, so that the cluster goes on. */
function chosen(next: readonly (readonly [Event, State])[], random: () => number) {
  const faults = next.filter(([{ who }]) => who === 'fault');
  const others = next.filter(([{ who }]) => who !== 'fault');
  const isFault = random() < 1 / 8;
  const among = (isFault && faults.length > 0) || others.length === 0 ? faults : others;
  return among[below(random, among.length)];
}

function below(random: () => number, end: number): number {
  return Math.floor(random() * end);
}

/** Mulberry32: the same numbers for the same seed, on every machine. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
