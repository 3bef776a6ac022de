import type { ForgeType } from '../../manifests/api/etcd-fleet.ts';
import { azureDevOps } from './azure-devops/api.ts';
import { bitbucketCloud } from './bitbucket-cloud/api.ts';
import { bitbucketDataCenter } from './bitbucket-data-center/api.ts';
import { type ForgeCredentials, forgeCredentialsFromSecret } from './credentials.ts';
import { ForgeError } from './error.ts';
import type { Forge, ForgeAccess, ForgeKind } from './forge.ts';
import { gitea } from './gitea/api.ts';
import { gitHub } from './github/api.ts';
import { gitLab } from './gitlab/api.ts';

/** Every forge there is; a new one is a file and a line here. */
const forges = {
  GitHub: gitHub,
  GitLab: gitLab,
  Gitea: gitea,
  Forgejo: gitea,
  BitbucketCloud: bitbucketCloud,
  BitbucketDataCenter: bitbucketDataCenter,
  AzureDevOps: azureDevOps,
} as const satisfies Record<ForgeType, ForgeKind>;

const forgeTypes = Object.keys(forges) as readonly ForgeType[];

/**
 * @throws ForgeError InvalidForge if the repository cannot be told from the clone URL, or the forge does not accept
 * this kind of credentials
 */
export function openForge(type: ForgeType, access: ForgeAccess): Forge {
  return forges[type].open(access);
}

/** What the Secret of a forge of this kind holds. @throws GitError InvalidCredentials */
export function accessFromSecret(
  type: ForgeType,
  data: Readonly<Record<string, string>>,
): { readonly credentials: ForgeCredentials; readonly caBundle?: string } {
  return forgeCredentialsFromSecret(data, forges[type].accepts);
}

/** Everything that is wrong with a fleet's forge, each as a sentence; empty if it can be used. */
export function validateForge({ type, apiUrl }: { type: string; apiUrl?: string }, gitUrl: string): string[] {
  if (!isForgeType(type))
    return [`forge.type ${JSON.stringify(type)} is not known: use ${forgeTypes.join(', ')}`, ...apiProblems(apiUrl)];
  return [...apiProblems(apiUrl), ...urlProblems(type, gitUrl, apiUrl)];
}

function isForgeType(type: string): type is ForgeType {
  return Object.hasOwn(forges, type);
}

function urlProblems(type: ForgeType, gitUrl: string, apiUrl: string | undefined): string[] {
  try {
    openForge(type, { gitUrl, credentials: { kind: 'token', token: '' }, ...(apiUrl && { apiUrl }) });
    return [];
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    return [error.message];
  }
}

function apiProblems(apiUrl: string | undefined): string[] {
  if (apiUrl === undefined) return [];
  const url = URL.parse(apiUrl);
  if (!url || !['http:', 'https:'].includes(url.protocol))
    return ['forge.apiUrl must be an HTTPS URL such as https://git.example.com/api/v1'];
  if (url.username !== '' || url.password !== '')
    return ['forge.apiUrl holds credentials: put them into the Secret that forge.secretName names'];
  if (url.search !== '' || url.hash !== '') return ['forge.apiUrl must not have a query or a fragment'];
  return [];
}
