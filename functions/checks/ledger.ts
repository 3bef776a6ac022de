import { isDeepStrictEqual } from 'node:util';
import type { RequestCheck } from '../../manifests/api/etcd-fleet-status.ts';

/** What one pass wants of what is remembered of a head, which it saw as `before`; `after` absent: nothing is. */
export interface Entry {
  readonly head: string;
  readonly before?: RequestCheck | undefined;
  readonly after?: RequestCheck | undefined;
}

/** Milliseconds for which a check belongs to its invocation. Then that counts as dead: a tick comes each minute. */
export const heldMs = 45_000;
/** Heads: each has a report. */
export const mostRemembered = 100;

/** Whether an invocation is at this check now. A missing time, or one in the future, holds nothing. */
export function isHeld({ state, begunAt = '' }: RequestCheck, now: Date): boolean {
  return state === 'pending' && Math.abs(now.getTime() - Date.parse(begunAt)) < heldMs;
}

/** Adds a begun check. `undefined`: another invocation has begun or ended a check of this head since we read it. */
export function withBegun(
  live: readonly RequestCheck[],
  { head, before, after }: Entry & { readonly after: RequestCheck },
): readonly RequestCheck[] | undefined {
  const now = entryOf(live, head);
  if (!isDeepStrictEqual(now, before)) return undefined;
  if (now) return live.map((check) => (check === now ? after : check));
  return [...withRoom(live), after];
}

/** Those of forks are forgotten first: strangers choose how many they are. */
function withRoom(live: readonly RequestCheck[]): readonly RequestCheck[] {
  if (live.length < mostRemembered) return live;
  const leaving = live.find(({ fork }) => fork) ?? live[0];
  return live.filter((check) => check !== leaving);
}

/**
 * Adds results of checks; the one that ended last is last. If others wrote about a head since `before`, it is unknown
 * which word came last at the forge: the verdict is in doubt for both, and the next pass checks again.
 */
export function withEnded(live: readonly RequestCheck[], entries: readonly Entry[]): readonly RequestCheck[] {
  return entries.reduce((checks, { head, before, after }) => {
    const now = entryOf(checks, head);
    // It was written before and the answer was lost; or it was forgotten, because the request is closed.
    if (!now || isDeepStrictEqual(now, after)) return checks;
    const others = checks.filter((check) => check !== now);
    if (!isDeepStrictEqual(now, before)) return [...others, inDoubt(now)];
    return after ? [...others, after] : others;
  }, live);
}

function inDoubt({ sent: _, begunAt: __, ...check }: RequestCheck): RequestCheck {
  return { ...check, state: 'pending' };
}

function entryOf(checks: readonly RequestCheck[], head: string): RequestCheck | undefined {
  return checks.find((check) => check.head === head);
}
