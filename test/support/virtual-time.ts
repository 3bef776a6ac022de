import { syncBuiltinESMExports } from 'node:module';
import timers, { setImmediate as turn } from 'node:timers/promises';

interface Timer {
  readonly at: number;
  readonly ring: () => void;
}

export interface VirtualTime extends Disposable {
  /** Calls back after so many virtual milliseconds. */
  after(ms: number, ring: () => void): void;
  /** Goes on to the next timer whenever nothing else is left to do, until the work is over. */
  until<T>(work: Promise<T>): Promise<T>;
}

/** Turns of the event loop without any work, after which only a timer can go on. */
const idleTurns = 40;

/**
 * Pauses, deadlines and `performance.now()` go by a clock that stands still while anything is done. A wait of minutes
 * takes no time, and leaves the same trace on a busy machine.
 *
 * @param isBusy whether something is under way that goes on by itself
 */
export function virtualTime(isBusy: () => boolean): VirtualTime {
  const real = { pause: timers.setTimeout, timeout: AbortSignal.timeout, now: performance.now };
  let now = 0;
  let pending: Timer[] = [];

  function after(ms: number, ring: () => void): void {
    pending.push({ at: now + ms, ring });
  }

  async function pause(ms = 0, value?: unknown, { signal }: { readonly signal?: AbortSignal } = {}): Promise<unknown> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    after(ms, () => resolve(value));
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    return promise;
  }

  function timeout(ms: number): AbortSignal {
    const ending = new AbortController();
    after(ms, () => ending.abort(new DOMException('the time is over', 'TimeoutError')));
    return ending.signal;
  }

  function ringNext(): void {
    const at = Math.min(...pending.map((timer) => timer.at));
    if (!Number.isFinite(at)) return;
    now = Math.max(now, at);
    const due = pending.filter((timer) => timer.at <= now);
    pending = pending.filter((timer) => timer.at > now);
    for (const { ring } of due) ring();
  }

  async function until<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    work.then(over, over);
    for (let idle = 0; !isOver; idle = isBusy() ? 0 : idle + 1) {
      if (idle > idleTurns) ringNext();
      await turn();
    }
    return work;
  }

  timers.setTimeout = pause as typeof timers.setTimeout;
  syncBuiltinESMExports();
  AbortSignal.timeout = timeout;
  performance.now = () => now;
  return {
    after,
    until,
    [Symbol.dispose]: () => {
      timers.setTimeout = real.pause;
      syncBuiltinESMExports();
      AbortSignal.timeout = real.timeout;
      performance.now = real.now;
    },
  };
}
