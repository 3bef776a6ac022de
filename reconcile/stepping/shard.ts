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

/** The shard whose unit it is, of so many. */
export function indexFor(unit: string, of: number): number {
  return Math.floor((slotOf(unit) * of) / mostShards);
}

/**
 * Whether the shard steps this unit: what is of one unit is stepped by one invocation of a pass. Exactly one of the
 * shards that are not missing does. One that is missing and there all the same steps its own, too: leases allow that.
 *
 * @param shard absent: the invocation shares with none, and steps all
 */
export function isIn(shard: Shard | undefined, unit: string): boolean {
  if (!shard) return true;
  const { index, of, missing } = shard;
  const own = indexFor(unit, of);
  if (own === index || !missing.includes(own)) return own === index;
  const present = indexesOf(of).filter((one) => !missing.includes(one));
  return present[slotOf(unit) % present.length] === index;
}

/** All of so many. */
export function indexesOf(of: number): readonly number[] {
  return Array.from({ length: of }, (_, index) => index);
}
