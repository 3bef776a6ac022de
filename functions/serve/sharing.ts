import { setTimeout as pause } from 'node:timers/promises';
/** Does work once for all callers that ask while it waits. Per key one runs, and one waits for it to end. */
export function coalescing<T>(): (key: string, work: () => Promise<T>) => Promise<T> {
  const running = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, Promise<T>>();
  return (key, work) => {
    const shared = waiting.get(key);
    if (shared) return shared;
    const before = running.get(key);
    const mine = before ? before.then(start, start) : start();
    if (before) waiting.set(key, mine);
    return mine;

    function start(): Promise<T> {
      waiting.delete(key);
      const run = work().finally(() => {
        if (running.get(key) === run) running.delete(key);
      });
      running.set(key, run);
      return run;
    }
  };
}

/** Runs work of one key in sequence, and everything else side by side. The caller bounds how many wait. */
export function oneAtATime(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (last.get(key) === mine) last.delete(key);
    }
  };
}

/** Gathers calls while it waits, and does them together: one run at a time, with pauses. All get the same answer. */
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
