import { startStopwatch } from '../../support/awake.ts';

/**
 * How long an application went without an acknowledged write. What the measuring process itself slept through is not
 * the cluster's: a timer tells it, and it is taken off. What is not over counts up to now.
 */
export interface Gaps {
  /** A write was acknowledged. */
  acknowledged(): void;
  /** The longest since this was last asked, in milliseconds. */
  recent(): number;
  /** The longest of all, in milliseconds. */
  longest(): number;
  close(): void;
}

/**
 * No follower stands for election before it has heard nothing of a leader for etcd's election timeout, a second, and a
 * heartbeat comes every tenth of one: a leader that goes without handing over leaves a gap of 900 ms at least.
 */
export const longestGapAllowed = 800;

export function measureGaps(now: () => number = () => performance.now()): Gaps {
  const awake = startStopwatch(now);
  let [last, recent, longest] = [0, 0, 0];

  function count(): void {
    const gap = awake.milliseconds() - last;
    recent = Math.max(recent, gap);
    longest = Math.max(longest, gap);
  }

  return {
    acknowledged() {
      count();
      last = awake.milliseconds();
    },
    recent() {
      count();
      const found = recent;
      recent = 0;
      return found;
    },
    longest() {
      count();
      return longest;
    },
    close: () => awake[Symbol.dispose](),
  };
}
