import assert from 'node:assert/strict';
import { type Crash, none } from './crash.ts';
import type { Faults } from './invocation.ts';
import type { World } from './world.ts';

/** An invocation that stands still at one write: before, its request is under way; after, the answer is. */
export interface Frozen {
  /** It wakes, and goes on where it stood; resolves when it has ended. */
  readonly wake: () => Promise<void>;
}

/**
 * Ticks, and lets the world go on in between, until an invocation stands still at that write, which is counted over all
 * of them, from those that were made before.
 */
export async function tickUntilFrozen(
  world: World,
  { when, write }: Crash,
  between: () => void = () => world.settle(),
  made = none,
): Promise<Frozen> {
  const stopped = Promise.withResolvers<'stopped'>();
  const woken = Promise.withResolvers<void>();
  const counts = { ...made };
  const stop = async (at: Crash['when']) => {
    const current = counts[at];
    counts[at] += 1;
    if (at !== when || current !== write) return;
    stopped.resolve('stopped');
    await woken.promise;
  };
  const faults: Faults = { before: () => stop('before'), after: () => stop('after') };
  for (let ticks = 0; ticks < 60; ticks += 1) {
    between();
    const ended = world.tick(faults);
    if ((await Promise.race([stopped.promise, ended])) === 'stopped') {
      return {
        wake: async () => {
          woken.resolve();
          await ended;
        },
      };
    }
    world.advance(2);
  }
  return assert.fail(`there is no write ${write}`);
}
