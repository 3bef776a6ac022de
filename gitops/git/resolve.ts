import { GitError } from './error.ts';
import type { GitConnection } from './http.ts';
import { askInfoRefs } from './info-refs.ts';
import { isSha, type Revision } from './revision.ts';
import { termsIn } from './terms.ts';
import { askUploadPack } from './upload-pack.ts';
import { type Advertisement, advertisementReader } from './wire/advertisement.ts';
import { listRefs } from './wire/pack.ts';
import { packetReader, packetText } from './wire/pktline.ts';

export interface Resolution extends Revision {
  /** The ref's full name; a commit that was named by its SHA has none. */
  readonly fullRef?: string;
  /** The tag object, where the ref is a tag that has one. */
  readonly tag?: string;
  /** What a person should know about the choice, e.g. that a tag has the same name. */
  readonly note?: string;
}

/**
 * Finds the commit that the source's ref names now, in one request; in none if the ref is a SHA (fetching proves it). A
 * short name is a branch first, then a tag, as for `git clone --branch`.
 * @throws GitError RefNotFound, EmptyRepository, AuthenticationFailed, RepositoryNotFound, …
 */
export async function resolveRef(git: GitConnection, signal: AbortSignal): Promise<Resolution> {
  const { ref } = git.source;
  if (isSha(ref)) return { ref, sha: ref.toLowerCase() };

  const sought = new Set(candidates(ref));
  const reader = advertisementReader((name) => sought.has(name));
  try {
    await askInfoRefs(git, { version: 0, maxBytes: mostBytesOfRefs, onData: reader.push }, signal);
  } catch (error) {
    if (!(error instanceof GitError) || error.reason !== 'TooLarge') throw error;
    git.terms = termsIn(git.base, reader.found);
    return choose(git.source, await askForRefs(git, [...sought], error, signal));
  }
  reader.end();
  git.terms = termsIn(git.base, reader.found);
  return choose(git.source, reader.found);
}

/** A list of all refs that is longer is not read to its end: a quarter of a million of them. */
const mostBytesOfRefs = 16 * 1024 * 1024;
/** Refs whose name begins with one of three. */
const mostBytesOfFew = 1024 * 1024;

/** In protocol version 2 a server lists only what is asked for, in a second request. */
async function askForRefs(
  git: GitConnection,
  names: readonly string[],
  before: GitError,
  signal: AbortSignal,
): Promise<Advertisement> {
  const refs = new Map<string, string>();
  const reader = packetReader((packet) => {
    if (packet.kind !== 'data') return;
    const [sha = '', name = '', ...attributes] = packetText(packet.data).split(' ');
    if (!isSha(sha) || !names.includes(name)) return;
    refs.set(name, sha);
    const peeled = attributes.find((one) => one.startsWith('peeled:'))?.slice(7) ?? '';
    if (isSha(peeled)) refs.set(`${name}^{}`, peeled);
  });
  const asking = { body: listRefs(names), version: 2, maxBytes: mostBytesOfFew, onData: reader.push } as const;
  await askUploadPack(git, asking, signal);
  reader.end();
  // A server that does not know this way has only its long list.
  if (refs.size === 0) throw before;
  return { refs, capabilities: [] };
}

/** Pure part of `resolveRef`. @throws GitError RefNotFound, EmptyRepository */
export function choose({ url, ref }: { url: string; ref: string }, { refs }: Advertisement): Resolution {
  if (refs.size === 0) throw new GitError('EmptyRepository', `${url} has no commits yet: push the first one`);

  const [fullRef, other] = candidates(ref).filter((name) => refs.has(name));
  // A tag object is not a commit; the server lists what it points to as `<name>^{}`.
  const sha = fullRef === undefined ? undefined : (refs.get(`${fullRef}^{}`) ?? refs.get(fullRef));
  if (fullRef === undefined || sha === undefined) {
    throw new GitError('RefNotFound', `${url} has no branch or tag ${ref}${similar(ref, refs)}`);
  }
  const tag = refs.has(`${fullRef}^{}`) ? refs.get(fullRef) : undefined;
  const found = { ref, sha, fullRef, ...(tag !== undefined && { tag }) };
  if (!other) return found;
  return {
    ...found,
    note: `${ref} is both ${fullRef} and ${other}: ${fullRef} is used; write the full name to choose`,
  };
}

function candidates(ref: string): string[] {
  if (ref === 'HEAD' || ref.startsWith('refs/')) return [ref];
  return [`refs/heads/${ref}`, `refs/tags/${ref}`, `refs/${ref}`];
}

function similar(ref: string, refs: ReadonlyMap<string, string>): string {
  const branches = [...refs.keys()].filter((name) => name.startsWith('refs/heads/')).map((name) => name.slice(11));
  const same = branches.find((name) => name.toLowerCase() === ref.toLowerCase());
  if (same !== undefined) return `; there is a branch ${same}`;
  return branches.length > 0 && branches.length <= 5 ? `; its branches are ${branches.join(', ')}` : '';
}
