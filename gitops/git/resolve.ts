import { GitError } from './error.ts';
import type { GitConnection } from './http.ts';
import { isSha, type Revision } from './revision.ts';
import { type Advertisement, parseAdvertisement } from './wire/advertisement.ts';

/** A revision with how it was found. */
export interface Resolution extends Revision {
  /** The ref's full name; a commit that was named by its SHA has none. */
  readonly fullRef?: string;
  /** What a person should know about the choice, e.g. that a tag has the same name. */
  readonly note?: string;
}

/**
 * Finds the commit that the source's ref names now, in one request; in none if the ref is a SHA (then fetching proves
 * that it exists).
 *
 * A short name is a branch first, then a tag, as for `git clone --branch`.
 *
 * @throws GitError RefNotFound, EmptyRepository, AuthenticationFailed, RepositoryNotFound, … see `GitReason`
 */
export async function resolveRef(git: GitConnection, signal: AbortSignal): Promise<Resolution> {
  const { ref } = git.source;
  if (isSha(ref)) return { ref, sha: ref.toLowerCase() };

  const type = 'application/x-git-upload-pack-advertisement';
  const body = await git.send({ method: 'GET', resource: 'info/refs?service=git-upload-pack', expect: type }, signal);
  return choose(git.source, parseAdvertisement(body));
}

/** Pure part of `resolveRef`. @throws GitError RefNotFound, EmptyRepository */
export function choose({ url, ref }: { url: string; ref: string }, { refs }: Advertisement): Resolution {
  if (refs.size === 0) throw new GitError('EmptyRepository', `${url} has no commits yet: push the first one`);

  const found = candidates(ref).filter((name) => refs.has(name));
  const [fullRef, other] = found;
  // A tag object is not a commit; the server lists what it points to as `<name>^{}`.
  const sha = fullRef === undefined ? undefined : (refs.get(`${fullRef}^{}`) ?? refs.get(fullRef));
  if (fullRef === undefined || sha === undefined) {
    throw new GitError('RefNotFound', `${url} has no branch or tag ${ref}${similar(ref, refs)}`);
  }
  if (!other) return { ref, sha, fullRef };
  return {
    ref,
    sha,
    fullRef,
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
