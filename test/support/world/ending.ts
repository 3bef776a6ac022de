import { tickUntilConverged } from './converge.ts';
import { type Crash, text } from './crash.ts';
import type { World } from './world.ts';

/** How it comes to rest after that death, like `done Converged`. @throws naming the place when it does not. */
export async function ending(world: World, crash: Crash): Promise<string> {
  try {
    const { kind, reason } = await tickUntilConverged(world);
    return `${kind} ${reason}`;
  } catch (error) {
    throw new Error(text(crash), { cause: error });
  }
}
