import { ForgeError } from './error.ts';

export interface RepositoryName {
  readonly owner: string;
  readonly name: string;
  /** Where the forge itself lives: the clone URL without owner and name. */
  readonly base: string;
  readonly host: string;
}

/** @throws ForgeError InvalidForge if the URL does not end in an owner and a name */
export function repositoryOf(gitUrl: string): RepositoryName {
  const { url, segments } = partsOf(gitUrl);
  const name = segments.pop();
  const owner = segments.pop();
  if (!url || !name || !owner) throw cannotTell(gitUrl, '/<owner>/<name>');
  return { owner, name, base: `${url.origin}${encodedPath(segments)}`, host: url.host };
}

/** The names that a clone URL's path consists of, decoded, without `.git`. */
export function partsOf(gitUrl: string): { readonly url: URL | null; readonly segments: string[] } {
  const url = URL.parse(gitUrl);
  const path = url?.pathname.replace(/\/+$/, '').replace(/\.git$/, '') ?? '';
  return {
    url,
    segments: path
      .split('/')
      .filter((segment) => segment !== '')
      .map(decoded),
  };
}

/** `/a/b`, or nothing. */
export function encodedPath(segments: readonly string[]): string {
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}

/** @param ending how it should end */
export function cannotTell(gitUrl: string, ending: string): ForgeError {
  const url = URL.parse(gitUrl);
  return new ForgeError(
    'InvalidForge',
    `the repository's owner and name cannot be told from ${url?.origin ?? 'the url'}${url?.pathname ?? ''}: it must end in ${ending}`,
  );
}

export function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

/**
 * Whether two addresses mean the same repository. Forges name themselves as people reach them (`git@…:team/etcd.git`);
 * a fleet may use another host or base path. So one path may end in the other: deliveries are verified, and a mistake
 * costs one look too many or too few.
 */
export function isSameRepository(a: string, b: string): boolean {
  return waysToWrite(a).some((one) => waysToWrite(b).some((other) => isSame([a, one], [b, other])));
}

type Written = readonly [address: string, segments: readonly string[]];

function isSame([a, one]: Written, [b, other]: Written): boolean {
  const length = Math.min(one.length, other.length);
  if (length > 1) return one.slice(-length).join('/') === other.slice(-length).join('/');
  // At the root of its server it has but one name: only the host tells it from others of that name.
  const host = URL.parse(a)?.host;
  return length === 1 && one.join('/') === other.join('/') && !!host && host === URL.parse(b)?.host;
}

/** Before `_git`, addresses may leave out the collection, and a project whose repository has its name. */
function waysToWrite(address: string): readonly (readonly string[])[] {
  const written = segmentsOf(address);
  if (written.at(-2) !== '_git') return [written];
  const name = written.at(-1) ?? '';
  const before = written.slice(0, -2).filter((segment) => segment !== 'defaultcollection');
  return [[], [name]].map((project) => [...before, ...project, '_git', name]);
}

/** Lower case: forges find a repository under any. */
function segmentsOf(address: string): readonly string[] {
  const path = URL.parse(address)?.pathname ?? address.replace(/^[^/]*:/, '');
  return path
    .replace(/\.git\/*$/, '')
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment) => decoded(segment).toLowerCase());
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // a lone % is part of the name
  }
}
