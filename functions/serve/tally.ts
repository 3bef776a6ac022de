/** Milliseconds between two reports. */
const everyMs = 60_000;

/** Counts what a stranger could repeat without end, and tells how often it was at most once a minute. */
export function createTally(tell: (count: number) => void, clock: () => number = () => performance.now()): () => void {
  let count = 0;
  let toldAt = Number.NEGATIVE_INFINITY;
  return () => {
    count += 1;
    if (clock() - toldAt < everyMs) return;
    toldAt = clock();
    tell(count);
    count = 0;
  };
}
