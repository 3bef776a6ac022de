/**
 * Where the fake API server keeps its objects, and what happened to them, in order. No rules here.
 *
 * What is on the shelf is frozen, whole, and everybody gets the very same object: whoever changes what he was given
 * fails at once. (Copies for each reader took more than half of the time of all the stories in memory.)
 */

import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, Resource } from '../../../reconcile/kube.ts';

export type Fields = Record<string, unknown>;

/** What is stored: at least this. */
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

export type Shelf = ReturnType<typeof createShelf>;

export function createShelf(clock: () => Date) {
  const objects = new Map<string, Map<string, Stored>>();
  const waiting = new Set<() => void>();
  let changes: Change[] = [];
  let counter = 100;
  let compactedTo = 0;
  let uids = 0;

  return {
    get,
    everything: () => [...objects.values()].flatMap((some) => [...some.values()]),
    /** By namespace and name. */
    all: (resource: Resource): Stored[] =>
      [...(objects.get(idOf(resource)) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object),
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
    timestamp: () => `${clock().toISOString().slice(0, 19)}Z`,
  };

  function get(place: Place): Stored | undefined {
    return objects.get(idOf(place.resource))?.get(keyOf(place));
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

export function frozenCopy<T>(value: T): T {
  return frozen(structuredClone(value));
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const each of Object.values(value)) frozen(each);
  return Object.freeze(value);
}
