import { setTimeout as pause } from 'node:timers/promises';
import { KubeError } from '../reconcile/kube.ts';
import type { Log } from './log.ts';

export interface Patience {
  readonly log: Log;
  /** When nobody waits any longer. */
  readonly until: AbortSignal;
  /** Milliseconds between two attempts. */
  readonly pauseMs?: number;
}

/**
 * Asks again while the API server is only busy or away for a moment, and there is time. Whoever waits for a roll-out has
 * that time: one list that got no answer is no reason to leave it to the next tick.
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
