import { partOf, turn } from '../../run/part.ts';
import type { Faults } from './invocation.ts';
import type { World } from './world.ts';

/** The death of one invocation, at one write. */
export interface Crash {
  readonly when: 'before' | 'after';
  /** Counted over all invocations, from 0. */
  readonly write: number;
}

/** For messages: where it was. */
export function text({ when, write }: Crash): string {
  return `${when} write ${write}`;
}

/** Every place where an invocation can die while it makes so many writes. */
export function crashesIn(writes: number): readonly Crash[] {
  return Array.from({ length: writes }, (_, write) => write).flatMap((write) => [
    { when: 'before', write } as const,
    { when: 'after', write } as const,
  ]);
}

/**
 * Half of them, like the black or the white squares of a board: two stories side by side see every place of every
 * write. `EXHAUSTIVE=1` gives all to both, which takes a few minutes. Ring 1 takes a third of them by turns.
 */
export function squares(crashes: readonly Crash[], colour: 'black' | 'white'): readonly Crash[] {
  if (process.env.EXHAUSTIVE) return crashes;
  const parity = colour === 'black' ? 0 : 1;
  return partOf(crashes.filter(({ when, write }) => (write + (when === 'after' ? 1 : 0)) % 2 === parity));
}

/**
 * Every so many of them, where each costs a lot of signing; `EXHAUSTIVE=1` gives all. Ring 1 takes half as many, and
 * others by turns.
 */
export function sample<T>(all: readonly T[], stride: number, offset = 0, whose = turn()): readonly T[] {
  if (process.env.EXHAUSTIVE) return all;
  const [every, first] = whose === undefined ? [stride, offset] : [stride * 2, offset + whose];
  return all.filter((_, index) => index % every === first % every);
}

export interface Killer extends Faults {
  /** How many were begun. */
  readonly writes: () => number;
  /** How many of them took effect. */
  readonly answers: () => number;
  readonly struck: () => boolean;
}

/** How many writes were begun, and how many took effect. */
export type Counts = Readonly<Record<Crash['when'], number>>;

export const none: Counts = { before: 0, after: 0 };

/**
 * Counts the writes of all invocations that are given it, from those that were made before, and kills the one that
 * makes this write.
 */
export function killer(crash?: Crash, made = none): Killer {
  let { before: begun, after: done } = made;
  let struck = false;
  const strike = (when: Crash['when'], write: number) => {
    if (crash?.when !== when || crash.write !== write || struck) return;
    struck = true;
    throw new Error(`killed ${when} write ${write}`);
  };
  return {
    before: () => {
      begun += 1;
      strike('before', begun - 1);
    },
    after: () => {
      done += 1;
      strike('after', done - 1);
    },
    writes: () => begun,
    answers: () => done,
    struck: () => struck,
  };
}

/**
 * Ticks until the killer has struck, or there is nothing left to do: what is written side by side may come in another
 * order, and a row of a peer that somebody changed meanwhile is not written at all.
 *
 * @param made writes that were made before, from which it counts
 * @returns whether it has struck.
 */
export async function tickUntilKilled(world: World, crash: Crash, slow = false, made = none): Promise<boolean> {
  const faults = killer(crash, made);
  for (let ticks = 0; ticks < 60 && !faults.struck(); ticks += 1) {
    if (slow) world.round();
    else world.settle();
    const result = await world.tick(faults);
    if (result?.decision.reason === 'Converged' && result.outcome === 'none') break;
    world.advance(2);
  }
  return faults.struck();
}
