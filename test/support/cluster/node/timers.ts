const longestMs = 2 ** 31 - 1;

/** Named timers: setting one again replaces it. */
export type Timers = {
  set(name: string, ms: number, run: () => void): void;
  clear(name: string): void;
  clearAll(): void;
};

export function createTimers(): Timers {
  const timers = new Map<string, NodeJS.Timeout>();
  return {
    set: (name, ms, run) => {
      clearTimeout(timers.get(name));
      timers.set(name, setTimeout(run, Math.min(Math.max(0, ms), longestMs)));
    },
    clear: (name) => {
      clearTimeout(timers.get(name));
      timers.delete(name);
    },
    clearAll: () => {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}
