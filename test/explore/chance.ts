import type { Event } from './model/event.ts';
import type { FaultKind } from './model/fault-kind.ts';
import { worldFaults } from './model/faults.ts';
import type { State } from './model/state.ts';
import { withRoom } from './model/worlds.ts';
import type { Scenario } from './scenario.ts';
import type { Model, Violation } from './search/search.ts';

/** What walks at random share: their numbers, and what they choose by them. */
export type Chance = () => number;

/** Mulberry32: the same numbers for the same seed, on every machine. */
export function chanceFrom(seed: number): Chance {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function below(chance: Chance, end: number): number {
  return Math.floor(chance() * end);
}

/** @throws {Error} when there is nothing to choose from */
export function anyOf<T>(chance: Chance, all: readonly T[]): T {
  const found = all[below(chance, all.length)];
  if (found === undefined) throw new Error('there is nothing to choose from');
  return found;
}

export function shuffled<T>(chance: Chance, all: readonly T[]): readonly T[] {
  return all
    .map((item) => ({ item, at: chance() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

const ofInvocations = ['death', 'late', 'again', 'second'] as const satisfies readonly FaultKind[];
const kinds: readonly FaultKind[] = [...ofInvocations, ...(Object.keys(worldFaults) as (keyof typeof worldFaults)[])];

/** Any of these with a fifth of all faults, one to three of them together, and with room for what they take. */
export function faultyOf(chance: Chance, among: readonly Scenario[], more = 0): Scenario {
  const scenario = anyOf(chance, among);
  const struck = kinds.filter(() => chance() < 0.2);
  // A pod that was deleted by force before a rollback looked for the first time left no trace of its node (I11).
  const isRollback = scenario.changes.some((turn) => 'spec' in turn && turn.spec?.rollback !== undefined);
  const faults = Object.fromEntries(struck.filter((kind) => !isRollback || kind !== 'force').map((kind) => [kind, 2]));
  const atMost = 1 + below(chance, 3);
  return { ...scenario, world: () => withRoom(scenario.world(), atMost + more), faults, atMost };
}

export type Next = readonly [Event, State];

export function nextOf(model: Pick<Model<State, Event>, 'successors'>, state: State): readonly Next[] {
  const next: Next[] = [];
  model.successors(state, (event, after) => next.push([event, after]));
  return next;
}

/** Of all that may happen most are faults: one in eight is, so that the cluster goes on. `undefined`: nothing may. */
export function chosen(next: readonly Next[], chance: Chance): Next | undefined {
  const faults = next.filter(([{ who }]) => who === 'fault');
  const others = next.filter(([{ who }]) => who !== 'fault');
  const isFault = chance() < 1 / 8;
  const among = (isFault && faults.length > 0) || others.length === 0 ? faults : others;
  return among[below(chance, among.length)];
}

/** A walk that can't be gone again hides its cause. */
export function goesTwoWays(seed: number): Violation {
  return { invariant: 'same seed', message: `seed ${seed} went two ways` };
}
