/** Answers that are worth asking for only now and then. */
export interface Remembered<T, About extends readonly unknown[] = []> {
  /**
   * Callers during a question share its answer. @throws what asking threw, for a while again
   * @param about further facts for asking, the same for the same key
   */
  get(key: string, ...about: About): Promise<T>;
}

interface Memory {
  /** Milliseconds that an answer is good for, */
  readonly freshMs: number;
  /** and a failure. */
  readonly retryMs: number;
  /** Entries; the oldest goes first. */
  readonly most: number;
  readonly clock: () => number;
}

interface Entry<T> {
  readonly answer: Promise<T>;
  until: number;
}

export function remembered<T, About extends readonly unknown[] = []>(
  memory: Memory,
  ask: (key: string, ...about: About) => Promise<T>,
): Remembered<T, About> {
  const { freshMs, retryMs, most, clock } = memory;
  const entries = new Map<string, Entry<T>>();
  return {
    get: (key, ...about) => {
      const known = entries.get(key);
      if (known && clock() < known.until) return known.answer;
      entries.delete(key);
      const [oldest] = entries.keys();
      if (entries.size >= most && oldest !== undefined) entries.delete(oldest);
      const entry: Entry<T> = { answer: ask(key, ...about), until: Number.POSITIVE_INFINITY };
      entries.set(key, entry);
      entry.answer.then(
        () => (entry.until = clock() + freshMs),
        () => (entry.until = clock() + retryMs),
      );
      return entry.answer;
    },
  };
}

/** At most so many at once; one too many is told at once, not queued. */
export function createRoom(most: number): <T>(work: () => Promise<T>) => Promise<T> | undefined {
  let inside = 0;
  return (work) => {
    if (inside >= most) return undefined;
    inside += 1;
    return work().finally(() => {
      inside -= 1;
    });
  };
}
