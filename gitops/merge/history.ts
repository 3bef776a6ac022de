import type { Commit } from '../git/commit.ts';
import type { Objects } from '../git/tree.ts';

export type Ancestry =
  /** `others`: histories that were merged crosswise have several, and none is older than another. */
  | { readonly kind: 'base'; readonly sha: string; readonly others: readonly string[] }
  /** Not told by what was fetched, and there is more. */
  | { readonly kind: 'deeper' }
  | { readonly kind: 'unrelated' };

/**
 * The best common ancestors of two fetched histories, the newest first. @throws GitError BadAnswer A base is the best
 * only if both sides' own history was fetched whole: behind a cut there may be a newer one. Everything behind common
 * commits is common, and older.
 */
export async function findMergeBase(objects: Pick<Objects, 'commit'>, ours: string, theirs: string): Promise<Ancestry> {
  const known = new Map<string, Commit>();
  const [a, b] = [await ancestorsOf(objects, ours, known), await ancestorsOf(objects, theirs, known)];
  const common = [...a.reached].filter((sha) => b.reached.has(sha));
  const isCutAlone = a.cut.some((sha) => !b.reached.has(sha)) || b.cut.some((sha) => !a.reached.has(sha));
  if (isCutAlone) return { kind: 'deeper' };
  const older = olderThan(common, known);
  const [newest, ...others] = common
    .filter((sha) => !older.has(sha))
    .toSorted((x, y) => (known.get(y)?.at ?? 0) - (known.get(x)?.at ?? 0) || (x < y ? -1 : 1));
  return newest === undefined ? { kind: 'unrelated' } : { kind: 'base', sha: newest, others };
}

/** Every commit that can be reached, itself included. `cut`: those of them with a parent that was not fetched. */
async function ancestorsOf(
  { commit }: Pick<Objects, 'commit'>,
  start: string,
  known: Map<string, Commit>,
): Promise<{ readonly reached: ReadonlySet<string>; readonly cut: readonly string[] }> {
  const reached = new Set<string>();
  const open = [start];
  for (let sha = open.pop(); sha !== undefined; sha = open.pop()) {
    if (reached.has(sha)) continue;
    const found = known.get(sha) ?? (await commit(sha));
    if (!found) continue;
    known.set(sha, found);
    reached.add(sha);
    open.push(...found.parents);
  }
  if (!reached.has(start)) return { reached, cut: [start] };
  return { reached, cut: [...reached].filter((sha) => known.get(sha)?.parents.some((parent) => !reached.has(parent))) };
}

/** What can be reached from one of these commits without being it. */
function olderThan(commits: readonly string[], known: ReadonlyMap<string, Commit>): ReadonlySet<string> {
  const older = new Set<string>();
  const open = commits.flatMap((sha) => known.get(sha)?.parents ?? []);
  for (let sha = open.pop(); sha !== undefined; sha = open.pop()) {
    if (older.has(sha)) continue;
    older.add(sha);
    open.push(...(known.get(sha)?.parents ?? []));
  }
  return older;
}
