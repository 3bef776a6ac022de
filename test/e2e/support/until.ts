import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waits for a condition, not for a time: `look` is asked again until it gives something.
 *
 * @param within seconds.
 * @throws when it did not come in time, naming what was waited for and what was seen last.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  { within = 60, every = 100, last = () => '' }: { within?: number; every?: number; last?: () => string } = {},
): Promise<T> {
  const deadline = performance.now() + within * 1000;
  let failure = '';
  for (;;) {
    try {
      const found = await look();
      if (found !== undefined && found !== false) return found;
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
    }
    if (performance.now() > deadline) {
      const seen = [last(), failure].filter((text) => text !== '').join('; ');
      throw new Error(`${what}: not within ${within} s${seen === '' ? '' : ` (${seen})`}`);
    }
    await pause(every);
  }
}
