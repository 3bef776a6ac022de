import { GitError } from './error.ts';
import type { GitSource } from './source.ts';

/**
 * Where a repository answers that redirected one of its resources: what comes before the resource in the last address.
 * GitLab redirects only `info/refs`, and knows no other request at the old address. Git itself goes on so, too.
 */
export function newBase(last: URL, resource: string): string | undefined {
  const [path = ''] = resource.split('?');
  if (!last.pathname.endsWith(`/${path}`)) return undefined;
  return `${last.origin}${last.pathname.slice(0, -path.length - 1)}`;
}

const mostLetters = 200;

/**
 * What a redirect to another host or port means: credentials must not follow. Only an address of a repository is
 * repeated, without its query; of any other (a login page, mostly) its host: no word of an answer goes into a status.
 */
export function redirectElsewhere({ url }: GitSource, to: URL, resource: string): GitError {
  const moved = newBase(to, resource);
  if (moved !== undefined && moved.length <= mostLetters)
    return new GitError(
      'RedirectRefused',
      `${url} redirects to ${moved}, and credentials must not follow to another host or port: if the repository has moved, set url to that`,
    );
  const host = to.host.slice(0, mostLetters);
  return new GitError(
    'RedirectRefused',
    `${url} redirects to another host or port (${host}), and not to a repository: check the credentials, and the url`,
  );
}
