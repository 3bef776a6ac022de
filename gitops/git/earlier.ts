import type { ServerTerms } from './terms.ts';
import type { Objects } from './tree.ts';
import type { Known, PackAnswer } from './wire/pack.ts';
import type { IndexedPack } from './wire/pack-index.ts';

/** What fetches of a repository brought, for those that come after: these ask for what is new. */
export interface Earlier extends Known {
  readonly packs: readonly IndexedPack[];
  /** Whether files were left out. */
  readonly partial: boolean;
  readonly terms: ServerTerms | undefined;
}

/** Lines of a request: where it would have more, everything is fetched anew. */
const most = { commits: 16, shallow: 256, packs: 64 };

/**
 * The state after a fetch of these commits; `undefined`: more than is worth keeping.
 * @param before what the server was told of, if it was
 */
export function after(
  before: Earlier | undefined,
  wants: readonly string[],
  { shallow, unshallow }: Extract<PackAnswer, { kind: 'pack' }>,
  { packs }: Pick<Objects, 'packs'>,
  { partial, terms }: Pick<Earlier, 'partial' | 'terms'>,
): Earlier | undefined {
  const ends = new Set([...(before?.shallow ?? []), ...shallow]);
  for (const sha of unshallow) ends.delete(sha);
  const commits = [...new Set([...wants, ...(before?.commits ?? [])])].slice(0, most.commits);
  if (ends.size > most.shallow || packs.length > most.packs) return undefined;
  return { commits, shallow: [...ends], packs, partial, terms };
}
