/**
 * Where the fake API server keeps its objects, and what happened to them, in order. No rules here.
 *
 * Objects on the shelf are frozen, whole, and every reader gets the very same one: a reader that changes its object
 * fails at once. (Copies for each reader took more than half of the time of all the stories in memory.)
 */

import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, Resource } from '../../../reconcile/interfaces/kube.ts';

export type Fields = Record<string, unknown>;

/** The least that a stored object has. */
export type Stored = KubeObject &
  Fields & { readonly metadata: { readonly uid: string; readonly resourceVersion: string } };

export interface Change {
  readonly resourceVersion: number;
  readonly resource: string;
  readonly before: Stored | undefined;
  readonly after: Stored | undefined;
}

export interface Place {
  readonly resource: Resource;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

export interface Shelf {
  get(place: Place): Stored | undefined;
  everything(): readonly Stored[];
  /** By namespace and name. */
  all(resource: Resource): readonly Stored[];
  put(resource: Resource, object: KubeObject & { readonly metadata: { readonly uid: string } }): Stored;
  drop(place: Place): void;
  counter(): number;
  compact(): void;
  isCompacted(resourceVersion: number): boolean;
  changesAfter(seen: number, resource: Resource): readonly Change[];
  nextChange(seen: number, signal: AbortSignal): Promise<void>;
  newUid(): string;
  /** With the same on it, from now on apart. */
  fork(clock: () => Date): Shelf;
  timestamp(): string;
}

interface Past {
  readonly objects: ReadonlyMap<string, ReadonlyMap<string, Stored>>;
  readonly changes: readonly Change[];
  readonly counter: number;
  readonly compactedTo: number;
  readonly uids: number;
}

const nothing: Past = { objects: new Map(), changes: [], counter: 100, compactedTo: 0, uids: 0 };

export function createShelf(clock: () => Date, past = nothing): Shelf {
  const objects = new Map([...past.objects].map(([id, some]) => [id, new Map(some)]));
  /** By namespace and name, until the next change of that kind. */
  const sorted = new Map<string, readonly Stored[]>();
  const waiting = new Set<() => void>();
  let changes = [...past.changes];
  let { counter, compactedTo, uids } = past;

  return {
    get,
    everything: () => [...objects.values()].flatMap((some) => [...some.values()]),
    all,
    put,
    drop,
    counter: () => counter,
    compact: () => {
      compactedTo = counter;
      changes = [];
    },
    isCompacted: (resourceVersion: number) => resourceVersion < compactedTo,
    changesAfter: (seen: number, resource: Resource) =>
      changes.filter((change) => change.resourceVersion > seen && change.resource === idOf(resource)),
    nextChange,
    newUid: () => {
      uids += 1;
      return `00000000-0000-4000-8000-${String(uids).padStart(12, '0')}`;
    },
    fork: (itsClock) => createShelf(itsClock, { objects, changes, counter, compactedTo, uids }),
    timestamp: () => `${clock().toISOString().slice(0, 19)}Z`,
  };

  function get(place: Place): Stored | undefined {
    return objects.get(idOf(place.resource))?.get(keyOf(place));
  }

  function all(resource: Resource): readonly Stored[] {
    const id = idOf(resource);
    const known = sorted.get(id);
    if (known !== undefined) return known;
    const found = [...(objects.get(id) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
    sorted.set(id, Object.freeze(found));
    return found;
  }

  /** Like etcd beneath the API server, it does not write what is the same already. */
  function put(resource: Resource, object: KubeObject & { readonly metadata: { readonly uid: string } }): Stored {
    const { namespace, name } = object.metadata;
    const place = { resource, namespace, name };
    const before = get(place);
    if (before !== undefined && isDeepStrictEqual(before, object)) return before;
    const metadata = { ...object.metadata, resourceVersion: String(counter + 1) };
    const after = frozenCopy<Stored>({ ...object, metadata });
    const shelf = objects.get(idOf(resource)) ?? new Map<string, Stored>();
    objects.set(idOf(resource), shelf.set(keyOf(place), after));
    record(resource, before, after);
    return after;
  }

  function drop(place: Place): void {
    const before = get(place);
    if (before === undefined) return;
    objects.get(idOf(place.resource))?.delete(keyOf(place));
    record(place.resource, before, undefined);
  }

  function record(resource: Resource, before: Stored | undefined, after: Stored | undefined): void {
    counter += 1;
    sorted.delete(idOf(resource));
    changes.push({ resourceVersion: counter, resource: idOf(resource), before, after });
    for (const wake of [...waiting]) wake();
  }

  /** At once if there was one after `seen` already, else when the next is made or the signal aborts. */
  function nextChange(seen: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      waiting.add(wake);
      signal.addEventListener('abort', wake);
      if (signal.aborted || counter > seen) wake();
    });
  }
}

function idOf({ apiVersion, plural }: Resource): string {
  return `${apiVersion}/${plural}`;
}

function keyOf({ namespace = '', name = '' }: Place): string {
  return `${namespace}/${name}`;
}

/** Frozen with everything in it: such a part of an object is never copied again. */
const whole = new WeakSet<object>();

/** What `structuredClone` would give, frozen; what came from here before is the same object. */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return typeof value === 'function' ? structuredClone(value) : value;
  if (whole.has(value)) return value;
  const copy = Object.freeze(copyOf(value)) as T & object;
  whole.add(copy);
  return copy;
}

function copyOf(value: object): object {
  if (Array.isArray(value)) return value.map(frozenCopy);
  if (Object.getPrototypeOf(value) !== Object.prototype) return structuredClone(value);
  return Object.fromEntries(Object.entries(value).map(([key, below]) => [key, frozenCopy(below)]));
}
