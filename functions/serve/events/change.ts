import { createHash } from 'node:crypto';
import { labels } from '../../../manifests/render/names.ts';
import { type Kube, type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import { type Changing, matterOf } from '../../../reconcile/stepping/matter.ts';

/** What an object looks like to a step, in a word: the same word again is no news. Empty: no step waits for this. */
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
 * What of this object could change a step; `undefined`: nothing. We write the status of clusters and peers ourselves,
 * so an object whose last write was its status is an echo. Of all other kinds it is what the follow-ups watch for.
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

/** Changes that were stepped for. It only saves steps: after a restart we take one needless step, which is harmless. */
interface Memory {
  isNews(change: Change): boolean;
  /** Only once it was stepped for: what failed is news when it comes again. */
  keep(change: Change): void;
  forget(uid: string): void;
}

export function createMemory(most = 10_000): Memory {
  const matters = new Map<string, string>();
  return {
    isNews: ({ uid, matter }) => matters.get(uid) !== matter,
    keep: ({ uid, matter }) => {
      matters.delete(uid);
      matters.set(uid, matter);
      const [oldest] = matters.keys();
      if (matters.size > most && oldest !== undefined) matters.delete(oldest);
    },
    forget: (uid) => void matters.delete(uid),
  };
}

/** An API client that notes what a pass was told by the API server: the only thing that makes a later hint no news. */
interface Seeing {
  readonly kube: Kube;
  /** What was seen of the objects of these clusters (`<namespace>/<name>`). */
  of(clusters: ReadonlySet<string>): readonly Change[];
}

const noted: readonly Resource[] = [resources.pods, resources.volumeClaims, resources.statefulSets];

export function seeing(kube: Kube): Seeing {
  const seen: { readonly cluster: string; readonly change: Change }[] = [];
  return {
    kube: {
      ...kube,
      list: async <T extends KubeObject>(...[resource, options]: Parameters<Kube['list']>) => {
        const listed = await kube.list<T>(resource, options);
        if (!noted.includes(resource)) return listed;
        for (const object of listed.items) {
          const { namespace, labels: own } = object.metadata;
          const change = changeOf({ ...object, kind: resource.kind }, false);
          if (change && change.matter !== '') seen.push({ cluster: `${namespace}/${own?.[labels.cluster]}`, change });
        }
        return listed;
      },
    },
    of: (clusters) => seen.flatMap(({ cluster, change }) => (clusters.has(cluster) ? [change] : [])),
  };
}
