import { setTimeout as pause } from 'node:timers/promises';
import { KubeError } from '../../reconcile/kube.ts';
import type { Log } from '../log.ts';

export interface Patience {
  readonly log: Log;
  /** When the caller stops waiting. */
  readonly until: AbortSignal;
  /** Milliseconds between two attempts. */
  readonly pauseMs?: number;
}

/**
 * Asks again while the API server is busy or away for a moment, and time is left: one list without an answer is no
 * reason to leave a roll-out to the next tick.
 *
 * @throws whatever `ask` throws, once it will not pass by itself or the time is over.
 */
export async function patiently<T>({ log, until, pauseMs = 2_000 }: Patience, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof KubeError) || error.class !== 'retryable' || until.aborted) throw error;
      log({ problem: error.message }, 'the API server gave no answer; asking again');
      await pause(pauseMs, undefined, { signal: until }).catch(() => undefined);
    }
  }
}
