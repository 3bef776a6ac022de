/** What an installation lets those who write clusters and backups name. A list that is absent allows everything. */
export type AllowLists = { readonly [L in keyof typeof listVariables]?: readonly string[] };

/** Where an admin of the installation says each: an entry is a name, or what names begin with. */
export const listVariables = {
  images: 'RATCHET_IMAGES',
  buckets: 'RATCHET_BUCKETS',
  serviceTypes: 'RATCHET_SERVICE_TYPES',
  serviceAnnotations: 'RATCHET_SERVICE_ANNOTATIONS',
} as const;

const page = 'docs/how-to/limit-tenants.md';
const entryOf = /^(?:[A-Za-z0-9._/:@-]|\{namespace\})*\*?$/;

/** @param text entries with commas or white space in between */
export function readEntries(text: string | undefined): {
  readonly entries: readonly string[];
  /** They allow nothing. */
  readonly wrong: readonly string[];
} {
  const all = (text ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  return { entries: all.filter((entry) => entryOf.test(entry)), wrong: all.filter((entry) => !entryOf.test(entry)) };
}

/** `undefined`: it is allowed. */
export function listRefusal(
  lists: AllowLists | undefined,
  list: keyof AllowLists,
  name: string,
  namespace: string,
): string | undefined {
  const entries = lists?.[list];
  if (!entries || entries.some((entry) => covers(entry.replaceAll('{namespace}', namespace), name))) return undefined;
  return `${name} is not in ${listVariables[list]} of this installation (${page})`;
}

/**
 * Whether it is that name, or one below it: `registry.example.com/etcd` has `registry.example.com/etcd:v1`, and neither
 * `registry.example.com/etcd-own` nor, as the name of a host, `registry.example.com:5000`.
 */
function covers(entry: string, name: string): boolean {
  if (entry.endsWith('*')) return name.startsWith(entry.slice(0, -1));
  if (name === entry || name.startsWith(entry.endsWith('/') ? entry : `${entry}/`)) return true;
  return entry.includes('/') && [':', '@'].some((border) => name.startsWith(`${entry}${border}`));
}
