import { type ForgeType, forgeTypes } from '../../manifests/api/etcd-fleet.ts';
import { type ForgeCredentials, forgeCredentialsFromSecret } from './credentials.ts';
import { ForgeError } from './error.ts';
import type { Forge, ForgeAccess } from './forge.ts';
import { registry } from './registry.ts';

/** @throws ForgeError InvalidForge if the clone URL names no repository, or the forge takes no such credentials */
export function openForge(type: ForgeType, access: ForgeAccess): Forge {
  return registry[type].api.open(access);
}

/** Where a forge's API is, which may be another host than its repositories'. @throws ForgeError InvalidForge */
export function apiAddressOf(type: ForgeType, gitUrl: string, apiURL: string | undefined): string {
  const credentials = { kind: 'token', token: '' } as const;
  return openForge(type, { gitUrl, credentials, ...(apiURL !== undefined && { apiURL }) }).address;
}

/** What the Secret of a forge of this kind holds. @throws GitError InvalidCredentials */
export function accessFromSecret(
  type: ForgeType,
  data: Readonly<Record<string, string>>,
): { readonly credentials: ForgeCredentials; readonly caBundle?: string } {
  return forgeCredentialsFromSecret(data, registry[type].api.accepts);
}

/** Everything that is wrong with a fleet's forge, each as a sentence; empty if it can be used. */
export function validateForge({ type, apiURL }: { type: string; apiURL?: string }, gitUrl: string): string[] {
  if (!isForgeType(type))
    return [`forge.type ${JSON.stringify(type)} is not known: use ${forgeTypes.join(', ')}`, ...apiProblems(apiURL)];
  return [...apiProblems(apiURL), ...urlProblems(type, gitUrl, apiURL)];
}

function isForgeType(type: string): type is ForgeType {
  return forgeTypes.some((known) => known === type);
}

function urlProblems(type: ForgeType, gitUrl: string, apiURL: string | undefined): string[] {
  try {
    apiAddressOf(type, gitUrl, apiURL);
    return [];
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    return [error.message];
  }
}

function apiProblems(apiURL: string | undefined): string[] {
  if (apiURL === undefined) return [];
  const url = URL.parse(apiURL);
  if (!url || !['http:', 'https:'].includes(url.protocol))
    return ['forge.apiURL must be an HTTPS URL such as https://git.example.com/api/v1'];
  if (url.username !== '' || url.password !== '')
    return ['forge.apiURL holds credentials: put them into the Secret that forge.secretName names'];
  if (url.search !== '' || url.hash !== '') return ['forge.apiURL must not have a query or a fragment'];
  return [];
}
