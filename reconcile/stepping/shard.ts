import { createHash } from 'node:crypto';

/** One of several invocations that share out a pass. */
export interface Shard {
  /** From 0. */
  readonly index: number;
  readonly of: number;
  /** Those that have missed their last passes: the others share out what is theirs. */
  readonly missing: readonly number[];
}

/** The most that may share a pass. */
export const mostShards = 256;

/** What belongs to none alone: one shard sees to it. */
export const wholeUnit = '';

/** From 0 to 255, for all time: another number of shards moves no more than it must, and marks nothing anew. */
export function slotOf(unit: string): number {
  return createHash('sha256').update(unit).digest()[0] ?? 0;
}

/**
 * Whether the shard steps this unit: what is of one unit is stepped by one invocation of a pass. Exactly one of the
 * shards that are not missing does. One that is missing and there all the same steps its own, too: leases allow that.
 */
export function isIn({ index, of, missing }: Shard, unit: string): boolean {
  const slot = slotOf(unit);
  const own = Math.floor((slot * of) / mostShards);
  if (own === index || !missing.includes(own)) return own === index;
  const present = Array.from({ length: of }, (_, one) => one).filter((one) => !missing.includes(one));
  return present[slot % present.length] === index;
}
