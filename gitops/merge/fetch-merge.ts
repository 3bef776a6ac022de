import { GitError } from '../git/error.ts';
import { askFiltered, askForPack, fetchCommits } from '../git/fetch.ts';
import type { GitConnection } from '../git/http.ts';
import { type Objects, openPacks } from '../git/tree.ts';
import { findMergeBase } from './history.ts';

export interface MergeCommits {
  /** The commit that asks to be merged. */
  readonly head: string;
  /** The branch's commit that it is merged with. */
  readonly target: string;
}

/** What a merge is made from: three commits with all their files. */
export interface MergeSource {
  readonly objects: Objects;
  /** Root folders. */
  readonly base: string;
  readonly head: string;
  readonly target: string;
  readonly baseSha: string;
  /** Other bases, as good as that one: histories that were merged crosswise have several. */
  readonly otherBases: readonly string[];
}

/** Where most branches parted: with all folders, in the one request that is made anyway. */
const nearby = 20;
/** Then only commits are asked for, where the server can leave out the rest. */
const depths = [1000, 10_000] as const;
/** Else everything, and less deep. */
const heavyDepths = [200, 1000] as const;
/** Each is a merge more. */
const mostBases = 8;

/**
 * Fetches two commits and the one where they parted.
 * @throws GitError CommitNotFound if the server does not give out the head, NoCommonAncestor, TooLarge, …
 */
export async function fetchMerge(
  git: GitConnection,
  { head, target }: MergeCommits,
  signal: AbortSignal,
): Promise<MergeSource> {
  const revision = { ref: git.source.ref, sha: head };
  const first = await fetchCommits(git, [head, target], { depth: nearby, revision, signal });
  if (first.kind === 'refused') {
    const why = `${git.source.url} does not serve commit ${head} (${first.message})`;
    throw new GitError('CommitNotFound', `${why}: a request from a fork may keep it elsewhere, or it was replaced`);
  }
  const { objects } = first;
  const near = await findMergeBase(objects, head, target);
  if (near.kind === 'base') return source(objects, { head, target, bases: [near.sha, ...near.others] });
  if (near.kind === 'unrelated') throw unrelated(git.source.ref);

  const bases = await searchDeeper(git, { head, target }, signal);
  git.earlier = git.fetched;
  const last = await fetchCommits(git, bases.slice(0, mostBases), { depth: 1, revision, signal, into: objects });
  if (last.kind === 'refused')
    throw new GitError('BadAnswer', `${git.source.url} does not serve ${bases[0]}, where the branches parted`);
  return source(objects, { head, target, bases });
}

async function searchDeeper(
  git: GitConnection,
  { head, target }: MergeCommits,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const revision = { ref: git.source.ref, sha: head };
  const wants = [head, target];
  let commitsOnly = true;
  for (let round = 0; round < depths.length; round++) {
    const commits = await askFiltered(git, wants, { depth: depths[round] ?? 1, without: 'folders' }, signal);
    commitsOnly = commits !== undefined;
    const answer = commits ?? (await askForPack(git, wants, { depth: heavyDepths[round] ?? 1 }, signal));
    if (answer.kind === 'refused')
      throw new GitError('CommitNotFound', `${git.source.url} no longer serves ${head} (${answer.message})`);
    const found = await findMergeBase(await openPacks([answer.pack], revision), head, target);
    if (found.kind === 'base') return [found.sha, ...found.others];
    if (found.kind === 'unrelated') throw unrelated(git.source.ref);
  }
  const [, most = 0] = commitsOnly ? depths : heavyDepths;
  throw new GitError(
    'NoCommonAncestor',
    `the branch parted from ${git.source.ref} more than ${most} commits ago: merge ${git.source.ref} into it, or rebase it`,
  );
}

async function source(
  objects: Objects,
  { bases, ...shas }: { readonly head: string; readonly target: string; readonly bases: readonly string[] },
): Promise<MergeSource> {
  if (bases.length > mostBases)
    throw new GitError('NoCommonAncestor', `the branches were merged crosswise ${bases.length} times: rebase this one`);
  const found = await Promise.all([shas.head, shas.target, ...bases].map((sha) => objects.commit(sha)));
  const trees = found.flatMap((commit) => commit?.tree ?? []);
  const [head, target, base, ...otherBases] = trees;
  const [baseSha] = bases;
  if (!head || !target || !base || baseSha === undefined || trees.length < found.length)
    throw new GitError('BadAnswer', 'the Git server left out a commit that it was asked for');
  return { objects, head, target, base, baseSha, otherBases };
}

function unrelated(branch: string): GitError {
  return new GitError('NoCommonAncestor', `the branch has no history in common with ${branch}: begin it from there`);
}
