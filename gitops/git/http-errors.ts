import type { IncomingHttpHeaders } from 'node:http';
import { codeOf, connectionProblem } from '../net/connection-codes.ts';
import { GitError } from './error.ts';
import type { GitSource } from './source.ts';

/** What a status (or a content type that is not Git's) means to the person who wrote the fleet. */
export function answerError(source: GitSource, status: number, headers: IncomingHttpHeaders, type: string): GitError {
  const { url } = source;
  const secret = source.credentials?.token ?? source.credentials?.password;
  const credentials =
    secret === undefined ? 'none were given: name a Secret in secretName' : 'check the Secret that secretName names';

  if (status === 429 || (status === 403 && headers['retry-after'] !== undefined)) {
    return new GitError('RateLimited', `${url} limits our requests (HTTP ${status})`);
  }
  if (status === 401)
    return new GitError('AuthenticationFailed', `${url} rejects our credentials (HTTP 401); ${credentials}`);
  if (status === 403)
    return new GitError('AuthenticationFailed', `${url} does not let us read (HTTP 403); ${credentials}`);
  if (status === 404 || status === 410) {
    // Forges hide private repositories behind a 404 from those who may not see them.
    return new GitError(
      'RepositoryNotFound',
      `there is no repository at ${url}, or these credentials may not see it (HTTP ${status})`,
    );
  }
  if (status >= 500) return new GitError('ServerFailing', `${url} fails with HTTP ${status}`);
  if (type === 'text/html') {
    return new GitError(
      'BadAnswer',
      `${url} answers with a web page (HTTP ${status}), not with Git data: check the url, and whether it needs credentials`,
    );
  }
  return new GitError('BadAnswer', `${url} does not answer as a Git server (HTTP ${status}): check the url`);
}

/** What a failure below HTTP means. */
export function connectionError(url: string, cause: unknown): GitError {
  const problem = connectionProblem(url, cause, 'secretName');
  if (problem) return new GitError(problem.reason, problem.message, { cause });
  const code = codeOf(cause) ?? 'connection failed';
  if (code === 'EPROTO') {
    return new GitError('Unreachable', `${url} does not speak TLS on that port: check scheme and port`, { cause });
  }
  return new GitError('Unreachable', `${url} cannot be reached (${code})`, { cause });
}
