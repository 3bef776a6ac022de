import { GitError, type GitReason } from '../../git/error.ts';
import type { GitCredentials } from '../../git/source.ts';
import { forgeCredentialsFromSecret } from '../credentials.ts';
import { ForgeError, type ForgeReason } from '../error.ts';
import type { ForgeAccess } from '../forge.ts';
import { gitHubReadToken } from './api.ts';

/** What each failure of the forge means to a caller that wanted to read with Git. */
const reasons = {
  InvalidForge: 'InvalidSource',
  ForgeUnauthorized: 'AuthenticationFailed',
  ForgeForbidden: 'AuthenticationFailed',
  RepositoryNotFound: 'RepositoryNotFound',
  StatusRejected: 'AuthenticationFailed',
  RedirectRefused: 'RedirectRefused',
  CertificateNotTrusted: 'CertificateNotTrusted',
  ProxyRefused: 'ProxyRefused',
  HostRefused: 'HostRefused',
  PlainHttpRefused: 'PlainHttpRefused',
  RateLimited: 'RateLimited',
  ForgeBusy: 'ServerFailing',
  ForgeFailing: 'ServerFailing',
  ForgeUnreachable: 'Unreachable',
  Timeout: 'Timeout',
  BadAnswer: 'BadAnswer',
} as const satisfies Record<ForgeReason, GitReason>;

/**
 * Credentials for Git from a Secret with a GitHub App: a token that only reads this repository.
 * @throws {GitError} InvalidCredentials, AuthenticationFailed, …
 */
export async function appCredentials(
  data: Readonly<Record<string, string>>,
  access: Pick<ForgeAccess, 'gitUrl' | 'apiURL' | 'network'>,
  signal: AbortSignal,
): Promise<GitCredentials> {
  const { credentials, caBundle } = forgeCredentialsFromSecret(data, ['app']);
  if (credentials.kind !== 'app') throw new TypeError('only an App was asked for');
  const ca = caBundle === undefined ? {} : { caBundle };
  try {
    return { token: await gitHubReadToken({ ...access, ...ca, credentials }, signal), ...ca };
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    throw new GitError(reasons[error.reason], error.message, { cause: error });
  }
}
