import { after } from './earlier.ts';
import { GitError } from './error.ts';
import type { GitConnection } from './http.ts';
import { termsOf } from './info-refs.ts';
import { isSha, type Revision } from './revision.ts';
import type { ServerTerms } from './terms.ts';
import { type FetchedTree, loadReader, type Objects, openPacks, treeOf } from './tree.ts';
import { askUploadPack } from './upload-pack.ts';
import { type PackAnswer, packReader, type WantOptions, wantInVersion0, wantInVersion2 } from './wire/pack.ts';

/**
 * Fetches exactly this commit without history, never a newer one, even if the ref moved. If the server can leave files
 * out, only folders come now, and files when needed. @throws GitError CommitNotFound, RefMoved, BadAnswer, …
 */
export async function fetchTree(git: GitConnection, revision: Revision, signal: AbortSignal): Promise<FetchedTree> {
  const found = await fetchCommits(git, [revision.sha], { depth: 1, revision, signal });
  if (found.kind === 'refused') throw notGiven(git.source.url, revision, found.message);
  return treeOf(found.objects, revision);
}

type Fetched =
  | { readonly kind: 'objects'; readonly objects: Objects }
  | Extract<PackAnswer, { readonly kind: 'refused' }>;

interface Fetching {
  readonly depth: number;
  readonly revision: Revision;
  readonly signal: AbortSignal;
  /** Takes them up. Absent: what was fetched earlier does. */
  readonly into?: Objects;
}

/**
 * Commits, their folders, and their files when needed; nothing that was fetched earlier comes again.
 * @throws GitError BadAnswer, TooLarge, …
 */
export async function fetchCommits(
  git: GitConnection,
  wants: readonly string[],
  { depth, revision, signal, into }: Fetching,
): Promise<Fetched> {
  const { answer, partial } = await askForCommits(git, wants, depth, signal);
  if (answer.kind === 'refused') return answer;
  const { earlier } = git;
  const files = (oids: readonly string[]) => askForFiles(git, oids, signal);
  const objects = into ?? (await openPacks([], revision, files, earlier?.packs));
  await objects.add(answer.pack);
  git.fetched = after(earlier, wants, answer, objects, { partial, terms: git.terms });
  return { kind: 'objects', objects };
}

/** Commits of the history to ask for: servers leave out known objects only where they lead. Few if files come, too. */
const near = { folders: 8, files: 2 };

interface Asked {
  readonly answer: PackAnswer;
  /** Whether files were left out. */
  readonly partial: boolean;
}

/** @throws GitError */
async function askForCommits(
  git: GitConnection,
  wants: readonly string[],
  depth: number,
  signal: AbortSignal,
): Promise<Asked> {
  const { earlier } = git;
  const terms = await termsOf(git, signal);
  if (earlier && terms.canFilter === earlier.partial) {
    const since = { depth: Math.max(depth, earlier.partial ? near.folders : near.files), known: earlier };
    const asked = await askAnyhow(git, wants, since, signal).catch((error: unknown) => {
      if (error instanceof GitError && error.reason === 'BadAnswer') return undefined;
      throw error;
    });
    if (asked?.answer.kind === 'pack' && asked.partial === earlier.partial) return asked;
  }
  // The server makes nothing of it, or there is nothing.
  git.earlier = undefined;
  return askAnyhow(git, wants, { depth }, signal);
}

/** Without files where the server can leave them out, else with all. @throws GitError */
async function askAnyhow(
  git: GitConnection,
  wants: readonly string[],
  options: WantOptions,
  signal: AbortSignal,
): Promise<Asked> {
  const answer = await askFiltered(git, wants, { without: 'files', ...options }, signal);
  if (answer) return { answer, partial: true };
  return { answer: await askForPack(git, wants, options, signal), partial: false };
}

/** `undefined`: the server can't leave anything out, or refuses. @throws GitError */
export async function askFiltered(
  git: GitConnection,
  wants: readonly string[],
  options: WantOptions,
  signal: AbortSignal,
): Promise<Extract<PackAnswer, { kind: 'pack' }> | undefined> {
  const { canFilter } = await termsOf(git, signal);
  if (!canFilter) return undefined;
  try {
    const answer =
      (await askInVersion2(git, wants, options, signal)) ?? (await askForParts(git, wants, options, signal));
    return answer?.kind === 'pack' ? answer : undefined;
  } catch (error) {
    if (git.terms?.version2 || !isUnreadable(error)) throw error;
    learn(git, { canFilter: false });
    return undefined;
  }
}

/** In version 0, if the server gives single files by it: else what is left out could not be asked for later. */
async function askForParts(git: GitConnection, wants: readonly string[], options: WantOptions, signal: AbortSignal) {
  const { capabilities } = await termsOf(git, signal);
  if (givesAnyObject.some((name) => capabilities.includes(name))) return askInVersion0(git, wants, options, signal);
  learn(git, { canFilter: false });
  return undefined;
}

const givesAnyObject = ['allow-any-sha1-in-want', 'allow-reachable-sha1-in-want'];

/** Asks for commits with all files, in one request; in two where a ref names not all of them. @throws GitError */
export async function askForPack(
  git: GitConnection,
  wants: readonly string[],
  options: WantOptions,
  signal: AbortSignal,
): Promise<PackAnswer> {
  const terms = await termsOf(git, signal);
  const answer = isOnlyVersion2(terms) ? undefined : await askInVersion0(git, wants, options, signal);
  if (answer?.kind === 'pack') return answer;
  return (await askInVersion2(git, wants, options, signal)) ?? answer ?? noAnswer;
}

const noAnswer: PackAnswer = { kind: 'refused', message: 'the server understands none of our requests' };

async function askForFiles(git: GitConnection, oids: readonly string[], signal: AbortSignal): Promise<Buffer> {
  const answer = (await askInVersion2(git, oids, {}, signal)) ?? (await askInVersion0(git, oids, {}, signal));
  if (answer.kind === 'pack') return answer.pack;
  throw new GitError('BadAnswer', `${git.source.url} does not give files that it left out before (${answer.message})`);
}

/** `undefined`: the server does not speak it: it answers in many ways, few of them orderly. @throws GitError */
async function askInVersion2(
  git: GitConnection,
  wants: readonly string[],
  options: WantOptions,
  signal: AbortSignal,
): Promise<PackAnswer | undefined> {
  const { version2 } = await termsOf(git, signal);
  if (version2 === false) return undefined;
  try {
    const answer = await ask(git, wantInVersion2(wants, options), 2, signal);
    if (answer.kind === 'pack') learn(git, { version2: true });
    return answer;
  } catch (error) {
    if (version2 || !isUnreadable(error)) throw error;
    learn(git, { version2: false });
    return undefined;
  }
}

async function askInVersion0(
  git: GitConnection,
  wants: readonly string[],
  options: WantOptions,
  signal: AbortSignal,
): Promise<PackAnswer> {
  const { capabilities } = await termsOf(git, signal);
  return ask(git, wantInVersion0(wants, options, capabilities), 0, signal);
}

/** The server said what it can do in version 2, and nothing of version 0. */
function isOnlyVersion2({ version2, capabilities }: ServerTerms): boolean {
  return version2 === true && capabilities.length === 0;
}

function learn(git: GitConnection, more: Partial<ServerTerms>): void {
  if (git.terms) git.terms = { ...git.terms, ...more };
}

function isUnreadable(error: unknown): boolean {
  return error instanceof GitError && (error.reason === 'BadAnswer' || error.reason === 'ServerFailing');
}

async function ask(git: GitConnection, body: Buffer, version: 0 | 2, signal: AbortSignal): Promise<PackAnswer> {
  using reader = packReader(git.share.take);
  // While the server packs, what reads its answer is loaded.
  await Promise.all([askUploadPack(git, { body, version, onData: reader.push }, signal), loadReader()]);
  return reader.end();
}

function notGiven(url: string, { ref, sha }: Revision, words: string): GitError {
  if (isSha(ref))
    return new GitError('CommitNotFound', `${url} does not serve commit ${sha} (${words}): does it exist there?`);
  return new GitError(
    'RefMoved',
    `${url} does not give out ${sha}, to which ${ref} pointed a moment ago (${words}): if this stays, check what the credentials may read`,
  );
}
