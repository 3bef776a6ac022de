import { GitError } from './error.ts';
import type { GitConnection } from './http.ts';
import { isSha, type Revision } from './revision.ts';
import { loadReader, openPack, type Tree } from './tree.ts';
import { type PackAnswer, readPackAnswer, type WantOptions, wantInVersion0, wantInVersion2 } from './wire/pack.ts';

/**
 * Fetches the files of exactly this commit, without history: never those of a newer one, also if the ref moved
 * meanwhile.
 *
 * One request for a commit that a ref names. A commit that none names (a pinned SHA, a branch just force-pushed) may
 * need a second: before protocol version 2, most servers give out only what they advertise.
 *
 * @throws GitError CommitNotFound, RefMoved, BadAnswer, … see `GitReason`
 */
export async function fetchTree(git: GitConnection, revision: Revision, signal: AbortSignal): Promise<Tree> {
  const answer = await askForPack(git, [revision.sha], {}, signal);
  if (answer.kind === 'refused') throw notGiven(git.source.url, revision, answer.message);
  return openPack(answer.pack, revision);
}

/** Asks for commits with their files, in one request; in two where a ref names not all of them. @throws GitError */
export async function askForPack(
  git: GitConnection,
  wants: readonly string[],
  options: WantOptions,
  signal: AbortSignal,
): Promise<PackAnswer> {
  const asking = ask(git, wantInVersion0(wants, options), {}, signal);
  // While the server packs, what reads its answer is loaded.
  const [answer] = await Promise.all([asking, loadReader(), import('../specs/parse.ts')]);
  if (answer.kind === 'pack') return answer;
  return ask(git, wantInVersion2(wants, options), { 'git-protocol': 'version=2' }, signal);
}

async function ask(
  git: GitConnection,
  body: Buffer,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<PackAnswer> {
  return readPackAnswer(
    await git.send(
      {
        method: 'POST',
        resource: 'git-upload-pack',
        headers: { 'content-type': 'application/x-git-upload-pack-request', ...headers },
        body,
        expect: 'application/x-git-upload-pack-result',
      },
      signal,
    ),
  );
}

function notGiven(url: string, { ref, sha }: Revision, words: string): GitError {
  if (isSha(ref))
    return new GitError('CommitNotFound', `${url} does not serve commit ${sha} (${words}): does it exist there?`);
  return new GitError('RefMoved', `${url} no longer serves ${sha}, to which ${ref} pointed a moment ago (${words})`);
}
