import { ForgeError } from './forge.ts';

/** A repository as forges name it in their API. */
export interface RepositoryName {
  readonly owner: string;
  readonly name: string;
  /** Where the forge itself lives: the clone URL without owner and name. */
  readonly base: string;
  readonly host: string;
}

/** @throws ForgeError InvalidForge if the URL does not end in an owner and a name */
export function repositoryOf(gitUrl: string): RepositoryName {
  const url = URL.parse(gitUrl);
  const segments = url?.pathname.split('/').filter((segment) => segment !== '') ?? [];
  const name = segments.pop()?.replace(/\.git$/, '');
  const owner = segments.pop();
  if (!url || !name || !owner) {
    throw new ForgeError(
      'InvalidForge',
      `the repository's owner and name cannot be told from ${url?.origin ?? 'the url'}${url?.pathname ?? ''}: it must end in /<owner>/<name>`,
    );
  }
  const below = segments.length > 0 ? `/${segments.join('/')}` : '';
  return { owner: decoded(owner), name: decoded(name), base: `${url.origin}${below}`, host: url.host };
}

/** `<api>/repos/<owner>/<name>/statuses/<sha>`, which GitHub and Gitea share. */
export function statusesUrl(apiUrl: string, { owner, name }: RepositoryName, sha: string): string {
  return `${apiUrl.replace(/\/+$/, '')}/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}/statuses/${sha}`;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // a lone % is part of the name
  }
}
