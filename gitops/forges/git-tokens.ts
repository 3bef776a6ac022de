import type { ForgeType } from '../../manifests/api/etcd-fleet.ts';
import type { GitCredentials } from '../git/source.ts';

/**
 * How a forge takes a bare token for Git, where it is not as the password of any user. Not in the forges' own tables: a
 * pass that reads Git loads no forge.
 */
const ways: Partial<Record<ForgeType, NonNullable<GitCredentials['tokenAs']>>> = {
  // https://support.atlassian.com/bitbucket-cloud/docs/using-access-tokens/
  BitbucketCloud: { user: 'x-token-auth' },
  // By Atlassian's page on HTTP access tokens, those of projects and repositories go no other way.
  BitbucketDataCenter: 'Bearer',
};

/** @param type of the fleet's forge; without one, the address tells the forge that is at one host only */
export function withTokenAs(credentials: GitCredentials, url: string, type: ForgeType | undefined): GitCredentials {
  if (credentials.token === undefined || credentials.username !== undefined) return credentials;
  const forge = type ?? (URL.parse(url)?.hostname === 'bitbucket.org' ? 'BitbucketCloud' : undefined);
  const tokenAs = forge && ways[forge];
  return { ...credentials, ...(tokenAs && { tokenAs }) };
}
