/** Half of what is left, at most: the clusters' steps come after it. Whole milliseconds, as a timer wants them. */
export function timeForGit(deadline: number, now: number): number {
  return Math.min(longestGitMs, Math.floor(Math.max(0, deadline - now) / 2));
}

/** What asking Git may cost, and how long the clusters' steps wait for it: a dead Git host must not hold them up. */
const longestGitMs = 10_000;
