import type { Commit, Objects } from '../tree.ts';

export type Ancestry =
  | { readonly kind: 'base'; readonly sha: string }
  /** None within what was fetched, and there is more. */
  | { readonly kind: 'deeper' }
  | { readonly kind: 'unrelated' };

/**
 * Where two histories parted, as far as they were fetched.
 *
 * Of several best common ancestors (histories that were merged crosswise) the newest counts; Git itself would merge those
 * first, which matters only where they changed the same lines.
 *
 * @throws GitError BadAnswer
 */
export async function findMergeBase(objects: Pick<Objects, 'commit'>, ours: string, theirs: string): Promise<Ancestry> {
  const known = new Map<string, Commit>();
  const [a, b] = [await ancestorsOf(objects, ours, known), await ancestorsOf(objects, theirs, known)];
  const common = [...a.reached].filter((sha) => b.reached.has(sha));
  if (common.length === 0) return { kind: a.isCut || b.isCut ? 'deeper' : 'unrelated' };
  const older = olderThan(common, known);
  const [newest] = common
    .filter((sha) => !older.has(sha))
    .toSorted((x, y) => (known.get(y)?.at ?? 0) - (known.get(x)?.at ?? 0) || (x < y ? -1 : 1));
  return newest === undefined ? { kind: 'unrelated' } : { kind: 'base', sha: newest };
}

/** Every commit that can be reached, itself included. `isCut`: a parent was not fetched. */
async function ancestorsOf(
  { commit }: Pick<Objects, 'commit'>,
  start: string,
  known: Map<string, Commit>,
): Promise<{ readonly reached: ReadonlySet<string>; readonly isCut: boolean }> {
  const reached = new Set<string>();
  const open = [start];
  let isCut = false;
  for (let sha = open.pop(); sha !== undefined; sha = open.pop()) {
    if (reached.has(sha)) continue;
    const found = known.get(sha) ?? (await commit(sha));
    if (!found) {
      isCut = true;
      continue;
    }
    known.set(sha, found);
    reached.add(sha);
    open.push(...found.parents);
  }
  return { reached, isCut };
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
