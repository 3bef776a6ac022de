const milliseconds: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1e3,
  m: 60e3,
  h: 3600e3,
};

/**
 * As Go's time.ParseDuration reads it, without a sign: no duration of ours can be negative. It is too short to
 * overflow, which would be an error inside a CEL rule.
 */
export const durationPattern =
  '^([0-9]{1,6}([.][0-9]+)?h|[0-9]{1,7}([.][0-9]+)?m|[0-9]{1,8}([.][0-9]+)?(s|ms|us|ns))+$';
export const longestDurationText = 16;
const whole = new RegExp(durationPattern);
const part = /(\d+(?:\.\d+)?)(ns|us|ms|s|m|h)/g;

/** Milliseconds in a duration like `2m`, `100ms` or `1h30m`. @throws {RangeError} when it is not a duration */
export function parseDuration(text: string): number {
  const value = milliSecondsIn(text);
  if (value === undefined) throw new RangeError(`${JSON.stringify(text)} is not a duration like 100ms, 2m or 1h30m`);
  return value;
}

export function isDuration(value: unknown): value is string {
  return typeof value === 'string' && milliSecondsIn(value) !== undefined;
}

function milliSecondsIn(text: string): number | undefined {
  if (text.length > longestDurationText || !whole.test(text)) return undefined;
  let sum = 0;
  for (const [, number, unit] of text.matchAll(part)) sum += Number(number) * (milliseconds[unit ?? ''] ?? Number.NaN);
  return sum;
}
