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
 * Between two looks at the clock, in milliseconds. A look that is later than this by as much again was slept through.
 * What is slept in shorter pieces counts as the cluster's. (A look each 10 ms took as much time as the writes.)
 */
const period = 25;

/**
 * No follower stands for election before it has heard nothing of a leader for etcd's election timeout, a second, and a
 * heartbeat comes every tenth of one: a leader that goes without handing over leaves a gap of 900 ms at least.
 */
export const longestGapAllowed = 800;

export function measureGaps(now: () => number = () => performance.now()): Gaps {
  let [last, lookedAt, slept, recent, longest] = [now(), now(), 0, 0, 0];
  const timer = setInterval(look, period);

  function look(): void {
    const at = now();
    const late = at - lookedAt - period;
    if (late > period) slept += late;
    lookedAt = at;
  }

  function count(): void {
    look();
    const gap = now() - last - slept;
    recent = Math.max(recent, gap);
    longest = Math.max(longest, gap);
  }

  return {
    acknowledged() {
      count();
      [last, slept] = [now(), 0];
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
    close: () => clearInterval(timer),
  };
}
