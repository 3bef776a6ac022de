import { setImmediate } from 'node:timers/promises';
import { stopIfAborted } from './git/error.ts';

/** Milliseconds of work without a break. */
const longestTurnMs = 50;

/** Breaks in long work: without them no timer, and so no deadline, could fire before its end. */
export interface Turns {
  /** Call it often: it costs next to nothing. `undefined`: go on; else wait for it. @throws GitError Aborted */
  readonly next: () => Promise<void> | undefined;
}

/** @param onResume called after each break: another task may have had the time of it */
export function takeTurns(signal?: AbortSignal, onResume?: () => void): Turns {
  let began = performance.now();
  let calls = 0;

  async function pause(): Promise<void> {
    await setImmediate();
    stopIfAborted(signal);
    onResume?.();
    began = performance.now();
  }

  return {
    // The clock is looked at now and then: it is asked a million times.
    next: () => (++calls % 8 === 0 && performance.now() - began > longestTurnMs ? pause() : undefined),
  };
}
