import { AssertionError } from 'node:assert';
import { setTimeout as pause } from 'node:timers/promises';

export interface Patience {
  /** Seconds until it is given up. */
  readonly within?: number;
  /** Milliseconds between two looks. */
  readonly every?: number;
  /** What was seen last, for the error. */
  readonly last?: () => string;
}

export type Look<T> = () => T | Promise<T>;
/** What a look gives once it gives something. */
export type Found<T> = Exclude<T, undefined | null | false>;

/**
 * Waits for a condition, not for a time: `look` is asked again until it gives something.
 *
 * What it throws counts as "not yet", because what is waited for may not answer so far. Not so an AssertionError, which
 * ends the wait at once: something was seen that must never be.
 *
 * @throws when it did not come in time, naming what was waited for and what was seen last.
 */
export async function until<T>(
  what: string,
  look: Look<T>,
  { within = 60, every = 100, last = () => '' }: Patience = {},
): Promise<Found<T>> {
  const deadline = performance.now() + within * 1000;
  for (;;) {
    let failure: unknown;
    try {
      const found = await look();
      if (isThere(found)) return found;
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      failure = error;
    }
    if (performance.now() > deadline) {
      const said = failure instanceof Error ? failure.message : String(failure ?? '');
      const seen = [last(), said].filter((text) => text !== '').join('; ');
      const cause = failure === undefined ? {} : { cause: failure };
      throw new Error(`${what}: not within ${within} s${seen === '' ? '' : ` (${seen})`}`, cause);
    }
    await pause(every);
  }
}

function isThere<T>(found: T): found is Found<T> {
  return found !== undefined && found !== null && found !== false;
}
