import { GitError } from '../git/error.ts';
import { askFiltered, askForPack } from '../git/fetch.ts';
import type { GitConnection } from '../git/http.ts';
import { openPacks } from '../git/tree.ts';
import type { Known, WantOptions } from '../git/wire/pack.ts';
import { lineSince } from './line.ts';
import { type Asked, short } from './verification.ts';

/** Commits of a branch that are looked at, back to the one that was verified last. */
const mostCommits = 1000;
/** Where the server can't leave out files, which come along. */
const mostWithFiles = 200;

/** First only what is new, as the server sees it; where that does not lead back, as much history as is looked at. */
export async function historySince(asked: Asked, since: string) {
  const { tree, git, signal } = asked;
  const { revision } = tree;
  const known = { commits: [since], shallow: [] };
  const near = await fetchHistory(asked, mostCommits, known);
  const found = near && (await lineSince(near, revision.sha, since, signal));
  if (near && found?.kind === 'line') return { line: found.line, raw: near.raw };
  const most = git.terms?.canFilter === false ? mostWithFiles : mostCommits;
  const far = await fetchHistory(asked, most);
  const again = far && (await lineSince(far, revision.sha, since, signal));
  if (far && again?.kind === 'line') return { line: again.line, raw: far.raw };
  const [head, last] = [short(revision.sha), short(since)];
  const cure = `to begin anew at ${head}, set spec.git.verify.mode to Head until that is verified, and then back`;
  const what =
    again?.kind === 'too-long'
      ? `${revision.ref} got more than ${most} commits since ${last} was verified, which is more than are looked at`
      : `${head} does not contain ${last}, which was verified last on ${revision.ref}: push the branch as it was`;
  throw new GitError('HistoryNotVerified', `${what}; ${cure}`);
}

/** Commits alone, where the server can leave out the rest. */
async function fetchHistory({ git, tree: { revision }, signal }: Asked, most: number, known?: Known) {
  const answer = await askWithoutFolders(git, revision.sha, { depth: most + 1, ...(known && { known }) }, signal);
  if (answer.kind === 'refused') return undefined;
  const { raw } = await openPacks([answer.pack], revision);
  return { raw, most };
}

/** A server may leave out files, and know no filter for folders: few of those answer orderly. @throws GitError */
export async function askWithoutFolders(git: GitConnection, want: string, options: WantOptions, signal: AbortSignal) {
  try {
    const answer = await askFiltered(git, [want], { ...options, without: 'folders' }, signal);
    if (answer) return answer;
  } catch (error) {
    if (!(error instanceof GitError) || !['BadAnswer', 'ServerFailing'].includes(error.reason)) throw error;
  }
  return askForPack(git, [want], options, signal);
}
