import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Done, Task } from './task.ts';

/**
 * Shares scenarios among worker threads: whoever is free takes the next. What one scenario does not need of its time
 * the others get: each is given an equal part of what is left.
 */
export async function share(
  scenarios: readonly string[],
  {
    workers,
    time,
    states,
    bug,
    told,
  }: {
    readonly workers: number;
    /** Milliseconds for all of them. */
    readonly time: number;
    readonly states: number;
    readonly bug?: string | undefined;
    readonly told: (done: Done) => void;
  },
): Promise<readonly Done[]> {
  const end = performance.now() + time;
  const waiting = [...scenarios];
  const all: Done[] = [];
  await Promise.all(Array.from({ length: Math.min(workers, scenarios.length) }, work));
  return all;

  async function work(): Promise<void> {
    const worker = new Worker(new URL('worker.ts', import.meta.url));
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const left = Math.max(0, end - performance.now());
        const part = Math.min(left, (left * workers) / (waiting.length + workers));
        worker.postMessage({ scenario: next, states, time: part, ...(bug !== undefined && { bug }) } satisfies Task);
        const [done] = (await once(worker, 'message')) as [Done];
        all.push(done);
        told(done);
      }
    } finally {
      await worker.terminate();
    }
  }
}
