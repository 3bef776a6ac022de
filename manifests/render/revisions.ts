/** More revisions than a store writes in years: so far ahead of what clients may have seen a restored store begins. */
export const revisionsAhead = 2 ** 40;

/** Below 2^53 a client in JavaScript reads every revision exactly; a store that begins here has room for its writes. */
export function mayBeginAt(revision: number): boolean {
  return revision + revisionsAhead <= Number.MAX_SAFE_INTEGER;
}
