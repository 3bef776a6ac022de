import { setTimeout as sleep } from 'node:timers/promises';
import { type FollowUp, type FollowUpContext, followUp } from './follow-up.ts';

/**
 * Milliseconds after which a follow-up that is still under way has seen what we began: who has looked for the last time only tells forges
 * yet (8 s), and ends.
 */
const endingMs = 10_000;
const everyMs = 2_000;

/**
 * Sees to it that somebody goes on, also where the one that seems to is just ending: it is watched until it has ended (then we begin a
 * chain of our own), until it has a successor, whose first look is later than what we did, or until it must have seen that.
 *
 * @throws {KubeError} Nothing is lost then but time: the next tick takes over.
 */
export async function handOn(
  context: FollowUpContext,
  pause: (ms: number, signal: AbortSignal) => Promise<unknown> = pauseFor,
): Promise<FollowUp> {
  const first = await followUp(context);
  if (first.kind !== 'under-way') return first;
  const known = new Set(first.jobs);
  for (let waited = 0; waited < endingMs; waited += everyMs) {
    await pause(everyMs, context.signal);
    if (context.signal.aborted) break;
    const again = await followUp(context);
    if (again.kind !== 'under-way' || again.jobs.some((job) => !known.has(job))) return again;
  }
  return first;
}

async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
