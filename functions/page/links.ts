import { type Html, markup } from './markup.ts';

/**
 * Links of ours are relative, so that the page may live below any path of any proxy.
 *
 * `root`: from the page that is shown to `/`: '' there, `../../` two levels below.
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
