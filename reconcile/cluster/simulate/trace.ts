import type { Observation } from '../observation.ts';

/** What differs between two moments of one cluster though nothing has come nearer to its goal. */
const passing: ReadonlySet<string> = new Set(['at', 'uid', 'made', 'createdAt', 'nonce', 'status', 'restarts']);

/** Equal where the same would be decided again, for ever. */
export function traceOf({ at: _, nonce: __, claim: ___, ...rest }: Observation): string {
  const { status, ...cluster } = rest.cluster;
  return JSON.stringify({ ...rest, cluster }, (key, value: unknown) => {
    if (key !== '' && passing.has(key) && typeof value !== 'object') return undefined;
    return typeof value === 'bigint' ? String(value) : value;
  });
}
