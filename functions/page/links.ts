import { ForgeError } from '../../gitops/forges/error.ts';
import { openForge } from '../../gitops/forges/forges.ts';
import type { EtcdFleet, ForgeType } from '../../manifests/api/etcd-fleet.ts';
import { type Html, markup } from './markup.ts';

/**
 * Our links are relative, so that the page may live below any path of any proxy. `root` leads from the page that is
 * shown to `/`: '' there, `../../` two levels below.
 */
export function clusterHref(root: string, namespace: string, name: string): string {
  return `${root}clusters/${segment(namespace)}/${segment(name)}`;
}

export function fleetHref(root: string, namespace: string, name: string): string {
  return `${root}fleets/${segment(namespace)}/${segment(name)}`;
}

export function checkHref(root: string, sha: string): string {
  return `${root}checks/${segment(sha)}`;
}

export function homeHref(root: string): string {
  return root === '' ? './' : root;
}

/** Half a surrogate pair has no encoding. */
function segment(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** An address that others wrote, if a link may lead there: http(s), without credentials. */
export function outward(address: string | undefined): string | undefined {
  const url = address === undefined || address.length > 2048 ? null : URL.parse(address);
  if (!url || !['http:', 'https:'].includes(url.protocol)) return undefined;
  return url.username === '' && url.password === '' ? url.href : undefined;
}

/** A link where there is an address to lead to, else the text alone. */
export function linked(address: string | undefined, text: string | Html): Html {
  const href = outward(address);
  return href === undefined ? markup`${text}` : markup`<a href="${href}" rel="noreferrer">${text}</a>`;
}

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
