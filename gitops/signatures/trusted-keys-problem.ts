/** A mistake in the keys that a fleet trusts, and its place. It repeats no word of them. */
export interface TrustedKeysProblem {
  /** Item of the ConfigMap. */
  readonly file: string;
  /** From 1; 0: the item as a whole. */
  readonly line: number;
  readonly message: string;
}

export interface Bound {
  readonly what: string;
  readonly most: number;
}

/** As many as are looked at. More are a problem: a key that is left out may be the one that is missed. */
export function keptWithin<T>(
  all: readonly T[],
  { what, most }: Bound,
  file: string,
  report: (problem: TrustedKeysProblem) => void,
): readonly T[] {
  if (all.length > most) report({ file, line: 0, message: `it has more than ${most} ${what}` });
  return all.slice(0, most);
}
