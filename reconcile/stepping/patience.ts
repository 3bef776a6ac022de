import { setTimeout as pause } from 'node:timers/promises';
import { abortAfter } from '../../manifests/abort-after.ts';
import { KubeError } from '../interfaces/kube.ts';
import type { Log } from './traced.ts';

export interface Patience {
  readonly log: Log;
  /** When the caller stops waiting. */
  readonly until: AbortSignal;
  /** Milliseconds between two attempts. */
  readonly pauseMs?: number;
}

/** While an invocation waits anyway it also asks again; a tick that waits for nothing (`waitMs` 0) asks once. */
export function whileWaiting({
  signal,
  waitMs,
}: {
  readonly signal: AbortSignal;
  readonly waitMs: number;
}): AbortSignal {
  return waitMs > 0 ? abortAfter(waitMs, signal) : AbortSignal.abort();
}

/**
 * Asks again while the API server is busy or away, and time is left: one list without an answer is no reason to leave a
 * roll-out to the next tick. @throws the error of `ask` that will not pass by itself, or is the last in time
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

/** The same, but `undefined` once the time is over: what was learned before is kept. @throws {KubeError} that lasts */
export async function inTime<T>(patience: Patience, ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await patiently(patience, ask);
  } catch (error) {
    if (!(error instanceof KubeError) || error.class !== 'retryable') throw error;
    patience.log({ problem: error.message }, 'the API server gave no answer in time');
    return undefined;
  }
}
