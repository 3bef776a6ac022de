import { setTimeout as pause } from 'node:timers/promises';

/**
 * Gathers what is asked for while it waits, and does it together: never more than one at a time, and never sooner than
 * so many milliseconds after the last. All who asked get the same answer.
 */
export function gathering<T, R>(
  everyMs: number,
  work: (all: readonly T[]) => Promise<R>,
): (some: readonly T[]) => Promise<R> {
  let waiting: T[] = [];
  let next: Promise<R> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function begin(before: Promise<unknown>): Promise<R> {
    await Promise.allSettled([before, pause(everyMs)]);
    const all = waiting;
    waiting = [];
    next = undefined;
    return work(all);
  }

  return (some) => {
    for (const one of some) waiting.push(one);
    if (!next) {
      next = begin(last);
      last = next;
    }
    return next;
  };
}
