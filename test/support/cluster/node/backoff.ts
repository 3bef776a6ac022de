export type BackOffLimits = { readonly baseMs: number; readonly capMs: number };

/** kubelet's back-off (client-go `flowcontrol.Backoff`): how often something was tried and since when. */
export type BackOff = { readonly delayMs: number; readonly updatedAt: number };

/**
 * The back-off after one more attempt at `now`: the first costs nothing, the second waits for the base after the
 * attempt before it ended, each later one twice as long up to the cap. After twice the cap without an attempt it starts
 * anew.
 */
export function nextBackOff(previous: BackOff | undefined, limits: BackOffLimits, now: number): BackOff {
  if (!previous || now - previous.updatedAt > 2 * limits.capMs) return { delayMs: limits.baseMs, updatedAt: now };
  return { delayMs: Math.min(previous.delayMs * 2, limits.capMs), updatedAt: now };
}

/** Milliseconds from `now` until another attempt is due, when the last one ended at `endedAt`. */
export function remainingMs(backOff: BackOff | undefined, limits: BackOffLimits, endedAt: number, now: number): number {
  if (!backOff || now - backOff.updatedAt > 2 * limits.capMs) return 0;
  return Math.max(0, endedAt + backOff.delayMs - now);
}

/** As Go prints a duration of whole seconds: `10s`, `1m20s`, `5m0s`. */
export function formatSeconds(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${ms < 1000 ? `${ms}ms` : `${seconds}s`}` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
