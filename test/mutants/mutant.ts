/**
 * A check that must notice a mutant: a test file that `node --test` runs by itself, or a scenario of the search, by
 * its whole name and with at most so many states (30,000).
 */
export type Killer = string | { readonly search: string; readonly states?: number };

/** One guard taken out of one file. A test or the search must notice. */
export interface Mutant {
  /** From the root of the checkout. */
  readonly file: string;
  /** As it stands in the file, exactly once. */
  readonly from: string;
  readonly to: string;
  /** The guard that the mutant lacks, in words. */
  readonly without: string;
  /** Until one notices: the fastest first. */
  readonly killers: readonly [Killer, ...Killer[]];
  /** Why it survives: nothing that can be observed changes, or another guard stands behind this one. */
  readonly survives?: string;
}

/** The text is not there, or there more than once; or what it makes of the file is no TypeScript. */
export class DoesNotApply extends Error {
  override readonly name = 'DoesNotApply';
}

/** @throws {DoesNotApply} unless the text occurs exactly once. */
export function mutated(source: string, { from, to }: Pick<Mutant, 'from' | 'to'>): string {
  const parts = source.split(from);
  if (from === '' || parts.length === 1) throw new DoesNotApply('its text is not in the file any more');
  if (parts.length > 2) throw new DoesNotApply(`its text is in the file ${parts.length - 1} times`);
  if (from === to) throw new DoesNotApply('it changes nothing');
  return parts.join(to);
}

/** The first line that the mutant changes, as a person counts them. */
export function lineOf(source: string, { from, to }: Pick<Mutant, 'from' | 'to'>): number {
  let same = 0;
  while (same < from.length && from[same] === to[same]) same += 1;
  return source.slice(0, Math.max(0, source.indexOf(from)) + same).split('\n').length;
}

export function nameOf(killer: Killer): string {
  return typeof killer === 'string' ? killer : `search "${killer.search}"`;
}

/** Those with the text in the file's name, in what is missing, or in the name of a killer. */
export function chosen(mutants: readonly Mutant[], only: string): readonly Mutant[] {
  const wanted = only.toLowerCase();
  const textOf = ({ file, without, killers }: Mutant) =>
    [file, without, ...killers.map(nameOf)].join('\n').toLowerCase();
  return mutants.filter((mutant) => textOf(mutant).includes(wanted));
}
