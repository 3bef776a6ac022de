/**
 * Work that is done once for all callers that ask while it waits. Of each key one runs and at most one more waits; that
 * one begins after all its callers have asked.
 */
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
