export type Settled<T> =
  | { readonly kind: 'first'; readonly value: T }
  | { readonly kind: 'none'; readonly errors: readonly unknown[] };

/**
 * Tries candidates in turn; each failure, and each `patienceMs` without an answer, starts the next one beside the
 * others. The first success counts, and the rest are told to stop: a hanging candidate costs `patienceMs`, not the
 * whole time. `attempt` must settle soon after its signal aborts.
 */
export async function hedge<C, T>(
  candidates: readonly C[],
  attempt: (candidate: C, signal: AbortSignal) => Promise<T>,
  { patienceMs, signal }: { readonly patienceMs: number; readonly signal: AbortSignal },
): Promise<Settled<T>> {
  const race = new AbortController();
  const giveUp = () => race.abort(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  const waiting = [...candidates];
  const errors: unknown[] = [];
  let running = 0;
  let patience: NodeJS.Timeout | undefined;

  try {
    return await new Promise((resolve) => {
      const startNext = () => {
        clearTimeout(patience);
        const candidate = race.signal.aborted ? undefined : waiting.shift();
        if (candidate === undefined) {
          if (running === 0) resolve({ kind: 'none', errors });
          return;
        }
        running += 1;
        if (waiting.length > 0) patience = setTimeout(startNext, patienceMs);
        attempt(candidate, race.signal).then(
          (value) => resolve({ kind: 'first', value }),
          (error: unknown) => {
            errors.push(error);
            running -= 1;
            startNext();
          },
        );
      };
      startNext();
    });
  } finally {
    clearTimeout(patience);
    signal.removeEventListener('abort', giveUp);
    race.abort();
  }
}
