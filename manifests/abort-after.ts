/**
 * Aborts with the first of these, with its reason.
 *
 * Not `AbortSignal.any`: only WeakRefs lead from it to its sources. Where the garbage collector takes one, as it does
 * an `AbortSignal.timeout`, what was to end never ends (nodejs/node#57736; seen in Node 20 and 24).
 */
export function firstAbort(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  const controller = new AbortController();
  const sources = signals.filter((one) => one !== undefined);
  const over = sources.find(({ aborted }) => aborted);
  if (over) {
    controller.abort(over.reason);
    return controller.signal;
  }
  const end = ({ target }: Event) => {
    // Nothing is left on a source that outlives many of these.
    for (const source of sources) source.removeEventListener('abort', end);
    controller.abort((target as AbortSignal).reason);
  };
  for (const source of sources) source.addEventListener('abort', end);
  return controller.signal;
}

/**
 * Aborts after so many milliseconds, whole ones, or with the first of the others. Less than none is none. Keeps no
 * process running: Node holds a timeout that has a listener, and no longer.
 */
export function abortAfter(milliseconds: number, ...others: readonly (AbortSignal | undefined)[]): AbortSignal {
  return firstAbort(...others, AbortSignal.timeout(Math.max(0, milliseconds)));
}

/** Resolves when it aborts; at once, if it has. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
}
