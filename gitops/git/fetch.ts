import { GitError } from './error.ts';
import type { GitConnection } from './http.ts';
import { isSha, type Revision } from './revision.ts';
import { loadReader, type Objects, openPacks, type Tree, treeOf } from './tree.ts';
import { askUploadPack } from './upload-pack.ts';
import { type PackAnswer, packReader, type WantOptions, wantInVersion0, wantInVersion2 } from './wire/pack.ts';

/**
 * Fetches exactly this commit, without history: never a newer one, also if the ref moved meanwhile. Where the server
 * can leave files out, only the folders come now, and files when they are needed.
 *
 * @throws GitError CommitNotFound, RefMoved, BadAnswer, … see `GitReason`
 */
export async function fetchTree(git: GitConnection, revision: Revision, signal: AbortSignal): Promise<Tree> {
  const answer = await askForCommits(git, [revision.sha], { depth: 1 }, signal);
  if (answer.kind === 'refused') throw notGiven(git.source.url, revision, answer.message);
  return treeOf(await openAnswers(git, [answer.pack], revision, signal), revision);
}

/** Packs whose files are fetched when they are needed. @throws GitError BadAnswer, TooLarge */
export function openAnswers(
  git: GitConnection,
  packs: readonly Buffer[],
  revision: Revision,
  signal: AbortSignal,
): Promise<Objects> {
  return openPacks(packs, revision, (oids) => askForFiles(git, oids, signal));
}

/** Commits with their folders: without files where the server can leave them out, else with all. @throws GitError */
export async function askForCommits(
  git: GitConnection,
  wants: readonly string[],
  options: WantOptions,
  signal: AbortSignal,
): Promise<PackAnswer> {
  const partial = await askFiltered(git, wants, { without: 'files', ...options }, signal);
  if (partial) return partial;
  return askForPack(git, wants, options, signal);
}

/** `undefined`: the server can't leave anything out, or refuses. @throws GitError */
export async function askFiltered(
  git: GitConnection,
  wants: readonly string[],
  options: WantOptions,
  signal: AbortSignal,
): Promise<Extract<PackAnswer, { kind: 'pack' }> | undefined> {
  if (git.canFilter === false) return undefined;
  try {
    const [answer] = await Promise.all([ask(git, wantInVersion2(wants, options), 2, signal), loadReader()]);
    if (answer.kind === 'refused') return undefined;
    git.canFilter = true;
    return answer;
  } catch (error) {
    // Servers that don't know filters answer in many ways, few of them orderly.
    if (!(error instanceof GitError) || git.canFilter || !['BadAnswer', 'ServerFailing'].includes(error.reason))
      throw error;
    git.canFilter = false;
    return undefined;
  }
}

/** Asks for commits with all files, in one request; in two where a ref names not all of them. @throws GitError */
export async function askForPack(
  git: GitConnection,
  wants: readonly string[],
  options: WantOptions,
  signal: AbortSignal,
): Promise<PackAnswer> {
  // While the server packs, what reads its answer is loaded.
  const [answer] = await Promise.all([ask(git, wantInVersion0(wants, options), 0, signal), loadReader()]);
  if (answer.kind === 'pack') return answer;
  return ask(git, wantInVersion2(wants, options), 2, signal);
}

async function askForFiles(git: GitConnection, oids: readonly string[], signal: AbortSignal): Promise<Buffer> {
  const answer = await ask(git, wantInVersion2(oids, {}), 2, signal);
  if (answer.kind === 'pack') return answer.pack;
  throw new GitError('BadAnswer', `${git.source.url} does not give files that it left out before (${answer.message})`);
}

async function ask(git: GitConnection, body: Buffer, version: 0 | 2, signal: AbortSignal): Promise<PackAnswer> {
  using reader = packReader(git.share.take);
  await askUploadPack(git, { body, version, onData: reader.push }, signal);
  return reader.end();
}

function notGiven(url: string, { ref, sha }: Revision, words: string): GitError {
  if (isSha(ref))
    return new GitError('CommitNotFound', `${url} does not serve commit ${sha} (${words}): does it exist there?`);
  return new GitError('RefMoved', `${url} no longer serves ${sha}, to which ${ref} pointed a moment ago (${words})`);
}
