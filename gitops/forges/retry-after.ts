import type { ForgeAnswer } from './http.ts';

/** A forge that asks for more is heard for so long; and what it says may be no time at all, such as 1e30 seconds. */
const longestMs = 24 * 3_600_000;

/**
 * When a forge wants to be asked again, in milliseconds since the epoch, a day from now at most; `undefined` if it does
 * not say.
 *
 * `Retry-After` is seconds or a date (RFC 9110, 10.2.3). GitHub's primary limit says it by `x-ratelimit-remaining: 0`
 * and `x-ratelimit-reset` (seconds since the epoch); its secondary one may say it only in words, and asks for a minute
 * then.
 */
export function retryAtOf(answer: Pick<ForgeAnswer, 'status' | 'headers' | 'body'>, now: number): number | undefined {
  const said = saidBy(answer, now);
  return said === undefined ? undefined : Math.min(Math.max(said, now), now + longestMs);
}

function saidBy(
  { status, headers, body }: Pick<ForgeAnswer, 'status' | 'headers' | 'body'>,
  now: number,
): number | undefined {
  const after = headers['retry-after'];
  if (after !== undefined) {
    if (/^\d+$/.test(after.trim())) return now + Number(after) * 1000;
    const date = Date.parse(after);
    if (!Number.isNaN(date)) return date;
  }
  const reset = headers['x-ratelimit-reset'];
  if (headers['x-ratelimit-remaining'] === '0' && typeof reset === 'string' && /^\d+$/.test(reset)) {
    return Number(reset) * 1000;
  }
  if ((status === 403 || status === 429) && /secondary rate limit/i.test(body)) return now + 60_000;
  return undefined;
}
