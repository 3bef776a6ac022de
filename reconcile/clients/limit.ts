/** How long one call may take: until the caller's signal, or its own time, whichever is first. */
export interface Limit {
  /** Aborts at the limit. */
  readonly signal: AbortSignal;
  expired(): boolean;
  /** For messages: `within 10000 ms`, or why the caller gave up. */
  words(): string;
  /** Why there is no time: what the caller, or its own clock, said. */
  because(): string;
  /** The promise, or a rejection at the limit, whatever becomes of the promise. */
  race<T>(promise: Promise<T>): Promise<T>;
  /** The limit is now. */
  stop(reason: unknown): void;
  /** From here on only the caller's signal counts. */
  stopClock(): void;
  /** From here on its own time counts, from its beginning. */
  startClock(): void;
  /** Must be called when the call is over: lets go of the timer and of the caller's signal. */
  release(): void;
}

export function limitOf(outer: AbortSignal | undefined, ms: number): Limit {
  // Not AbortSignal.any: on a signal that outlives many calls, each one would leave something behind.
  const controller = new AbortController();
  let timedOut = false;
  const giveUp = () => controller.abort(outer?.reason);
  const timeOut = () => {
    timedOut = true;
    controller.abort(new DOMException(`no end after ${ms} ms`, 'TimeoutError'));
  };
  let timer = setTimeout(timeOut, ms);
  if (outer?.aborted === true) giveUp();
  outer?.addEventListener('abort', giveUp, { once: true });

  return {
    signal: controller.signal,
    expired: () => controller.signal.aborted,
    words: () => (timedOut ? `within ${ms} ms` : `before it was given up (${reasonOf(controller.signal)})`),
    because: () => reasonOf(controller.signal),
    race: (promise) =>
      new Promise((resolve, reject) => {
        const stop = () => reject(controller.signal.reason);
        controller.signal.addEventListener('abort', stop, { once: true });
        if (controller.signal.aborted) stop();
        promise.then(resolve, reject).finally(() => controller.signal.removeEventListener('abort', stop));
      }),
    stop: (reason) => controller.abort(reason),
    stopClock: () => clearTimeout(timer),
    startClock: () => {
      clearTimeout(timer);
      timer = setTimeout(timeOut, ms);
    },
    release: () => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', giveUp);
    },
  };
}

function reasonOf({ reason }: AbortSignal): string {
  return reason instanceof Error ? reason.message : String(reason);
}
