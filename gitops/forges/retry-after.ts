import type { ForgeAnswer } from './http.ts';

/**
 * When a forge wants to be asked again, in milliseconds since the epoch; `undefined` if it does not say.
 *
 * `Retry-After` is seconds or a date (RFC 9110, 10.2.3). GitHub's primary limit says it by `x-ratelimit-remaining: 0` and
 * `x-ratelimit-reset` (seconds since the epoch); its secondary one may say it only in words, and asks for a minute then.
 */
export function retryAtOf(
  { status, headers, body }: Pick<ForgeAnswer, 'status' | 'headers' | 'body'>,
  now: number,
): number | undefined {
  const after = headers['retry-after'];
  if (after !== undefined) {
    if (/^\d+$/.test(after.trim())) return now + Number(after) * 1000;
    const date = Date.parse(after);
    if (!Number.isNaN(date)) return Math.max(date, now);
  }
  const reset = headers['x-ratelimit-reset'];
  if (headers['x-ratelimit-remaining'] === '0' && typeof reset === 'string' && /^\d+$/.test(reset)) {
    return Math.max(Number(reset) * 1000, now);
  }
  if ((status === 403 || status === 429) && /secondary rate limit/i.test(body)) return now + 60_000;
  return undefined;
}
