/** What a cure costs at most, from least to most: `since` is what was written since a backup, a copy or a fork. */
export const losses = ['nothing', 'since', 'everything'] as const;

/** One of several cures that a person may choose from. */
export interface Offer {
  readonly loses: (typeof losses)[number];
  /** An imperative, without what joins it to the others. */
  readonly cure: string;
}

/** What loses least comes first, in whatever order the offers are given: a person at night takes the first. */
export function byLoss(offers: readonly Offer[]): readonly Offer[] {
  return offers.toSorted((a, b) => losses.indexOf(a.loses) - losses.indexOf(b.loses));
}

/** Stands between cures of which one is enough. */
export const orElse = '; or ';

export function offered(offers: readonly Offer[]): string {
  return byLoss(offers)
    .map(({ cure }) => cure)
    .join(orElse);
}

/** For a person to see: each way on by itself, the first as it was written. */
export function waysIn(cure: string): readonly string[] {
  return cure.split(orElse);
}
