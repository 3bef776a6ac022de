import { createHash } from 'node:crypto';
import type { KubeObject } from '../../../reconcile/interfaces/kube.ts';
import { type Changing, matterOf } from '../../../reconcile/stepping/matter.ts';

/**
 * What an object looks like to a step, in a word: the same word again is no news. Empty: it is not at a point that a
 * step waits for.
 */
export interface Change {
  readonly uid: string;
  readonly matter: string;
}

const kinds: ReadonlyMap<string, Changing> = new Map([
  ['Pod', 'pods'],
  ['PersistentVolumeClaim', 'volumeClaims'],
  ['StatefulSet', 'statefulSets'],
]);

interface ManagedFields {
  readonly time?: string;
  readonly subresource?: string;
}

/**
 * What of this object could make a step come out differently; `undefined`: nothing.
 *
 * A status is what we write ourselves, of clusters and of peers: whatever only changes that must never wake us. So of
 * those two, what the API server wrote down last decides: was it the status, it is an echo. Of the rest it is what the
 * follow-ups watch for.
 */
export function changeOf(object: KubeObject, isDeleted: boolean): Change | undefined {
  const { uid = '', deletionTimestamp } = object.metadata;
  if (isDeleted) return { uid, matter: 'gone' };
  if (deletionTimestamp !== undefined) return { uid, matter: 'leaving' };
  const kind = kinds.get(object.kind ?? '');
  if (kind) return { uid, matter: matterOf(kind, object) };
  return isStatusEcho(object) ? undefined : { uid, matter: wantedOf(object) };
}

/** Times are told to the second: what shares the last one with something else may be an echo, or not. */
function isStatusEcho({ metadata }: KubeObject): boolean {
  const { managedFields = [] } = metadata as { readonly managedFields?: readonly ManagedFields[] };
  const last = managedFields
    .map(({ time = '' }) => time)
    .toSorted()
    .at(-1);
  const newest = managedFields.filter(({ time = '' }) => time === last);
  return newest.length > 0 && newest.every(({ subresource }) => subresource === 'status');
}

/** What people can ask for: the spec, and by annotations. */
function wantedOf({ metadata }: KubeObject): string {
  const { generation = 0, annotations = {} } = metadata;
  const hash = createHash('sha256').update(JSON.stringify(Object.entries(annotations).toSorted()));
  return `${generation} ${hash.digest('base64url').slice(0, 16)}`;
}
