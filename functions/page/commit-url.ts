import { ForgeError } from '../../gitops/forges/error.ts';
import { openForge } from '../../gitops/forges/forges.ts';
import type { EtcdFleet, ForgeType } from '../../manifests/api/etcd-fleet.ts';

/** Of fleets that send no statuses, and so say nothing of a forge. */
const knownHosts: ReadonlyMap<string, ForgeType> = new Map([
  ['github.com', 'GitHub'],
  ['gitlab.com', 'GitLab'],
  ['codeberg.org', 'Forgejo'],
  ['bitbucket.org', 'BitbucketCloud'],
  ['dev.azure.com', 'AzureDevOps'],
]);

/** Where people look at a commit of this fleet's repository; `undefined` where its forge can't be told. */
export function commitUrl({ spec: { git, forge } }: EtcdFleet, sha: string): string | undefined {
  const type = forge?.type ?? knownHosts.get(URL.parse(git.url)?.hostname ?? '');
  if (type === undefined || !/^[0-9a-f]{40}$/.test(sha)) return undefined;
  try {
    const { apiURL } = forge ?? {};
    // Nothing is asked of the forge: it only knows how its addresses look.
    const access = { gitUrl: git.url, credentials: { kind: 'token' as const, token: '' }, ...(apiURL && { apiURL }) };
    return openForge(type, access).commitUrl(sha);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    return undefined;
  }
}
