import type { ForgeType } from '../../manifests/api/etcd-fleet.ts';
import { type Forge, type ForgeAccess, ForgeError } from './forge.ts';
import { gitea } from './gitea.ts';
import { gitHub } from './github.ts';
import { repositoryOf } from './repository.ts';

/** Every forge that can show a status; a new one is a file and a line here. */
const forges = { GitHub: gitHub, Gitea: gitea, Forgejo: gitea } as const satisfies Record<
  ForgeType,
  (access: ForgeAccess) => Forge
>;

export const forgeTypes = Object.keys(forges) as readonly ForgeType[];

/** @throws ForgeError InvalidForge if the repository cannot be told from the clone URL */
export function openForge(type: ForgeType, access: ForgeAccess): Forge {
  return forges[type](access);
}

/** Everything that is wrong with a fleet's forge, each as a sentence; empty if it can be used. */
export function validateForge({ type, apiUrl }: { type: string; apiUrl?: string }, gitUrl: string): string[] {
  const problems: string[] = [];
  if (!Object.hasOwn(forges, type))
    problems.push(`forge.type ${JSON.stringify(type)} is not known: use ${forgeTypes.join(', ')}`);
  problems.push(...apiProblems(apiUrl));
  try {
    repositoryOf(gitUrl);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    problems.push(error.message);
  }
  return problems;
}

function apiProblems(apiUrl: string | undefined): string[] {
  if (apiUrl === undefined) return [];
  const url = URL.parse(apiUrl);
  if (!url || !['http:', 'https:'].includes(url.protocol))
    return ['forge.apiUrl must be an HTTPS URL such as https://git.example.com/api/v1'];
  if (url.username !== '' || url.password !== '')
    return ['forge.apiUrl holds credentials: put the token into the Secret that forge.secretName names'];
  if (url.search !== '' || url.hash !== '') return ['forge.apiUrl must not have a query or a fragment'];
  return [];
}
