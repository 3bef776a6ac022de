/** What one slice takes, in seconds on two cores. */
export const sliceSeconds = 900;

export interface Measured {
  /** From start to end. */
  readonly seconds: number;
  /** Of processors. */
  readonly processors: number;
}

/** A file that nothing was measured of. */
const unmeasured: Measured = { seconds: 60, processors: 40 };

/** Four files run side by side on two cores: whichever of the two is used up first. */
function costOf({ seconds, processors }: Measured): number {
  return Math.max(seconds / 4, processors / 2);
}

/**
 * The files in slices of about `sliceSeconds`, each file in exactly one: the longest first, each into the slice that
 * has least. The same files and seconds give the same slices.
 */
export function slicesOf(
  files: readonly string[],
  measured: (file: string) => Measured | undefined,
): readonly (readonly string[])[] {
  const costs = files.map((file) => ({ file, cost: costOf(measured(file) ?? unmeasured) }));
  const total = costs.reduce((sum, { cost }) => sum + cost, 0);
  const slices = Array.from({ length: Math.max(1, Math.ceil(total / sliceSeconds)) }, () => ({
    cost: 0,
    files: [] as string[],
  }));
  for (const { file, cost } of costs.toSorted((a, b) => b.cost - a.cost || (a.file < b.file ? -1 : 1))) {
    const least = slices.reduce((best, slice) => (slice.cost < best.cost ? slice : best));
    least.cost += cost;
    least.files.push(file);
  }
  return slices.map((slice) => slice.files);
}

/**
 * The slice of the nth landing. As many landings after each other as there are slices take every file once. `n` is the
 * count of commits: a landing of several commits passes over slices, and comes to them on another round.
 */
export function sliceOf(slices: readonly (readonly string[])[], n: number): readonly string[] {
  return slices[n % slices.length] ?? [];
}
