/** Where the fake API server keeps its objects, and what happened to them, in order. No rules here. */

import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, Resource } from '../../reconcile/kube.ts';

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
  const objects = new Map<string, Stored>();
  const waiting = new Set<() => void>();
  let changes: Change[] = [];
  let counter = 100;
  let compactedTo = 0;
  let uids = 0;

  return {
    /** The object itself: to be copied before anybody else gets it. */
    get: (place: Place) => objects.get(keyOf(place)),
    everything: () => [...objects.values()],
    /** Copies, by namespace and name. */
    all: (resource: Resource): Stored[] =>
      [...objects]
        .filter(([key]) => key.startsWith(`${idOf(resource)} `))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, object]) => structuredClone(object)),
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

  /** Like etcd beneath the API server, it does not write what is the same already. */
  function put(resource: Resource, object: KubeObject & { readonly metadata: { readonly uid: string } }): Stored {
    const { namespace, name } = object.metadata;
    const place = { resource, namespace, name };
    const before = objects.get(keyOf(place));
    if (before !== undefined && isDeepStrictEqual(before, object)) return before;
    const metadata = { ...object.metadata, resourceVersion: String(counter + 1) };
    const after: Stored = structuredClone({ ...object, metadata });
    objects.set(keyOf(place), after);
    record(resource, before, after);
    return after;
  }

  function drop(place: Place): void {
    const before = objects.get(keyOf(place));
    if (before === undefined) return;
    objects.delete(keyOf(place));
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

function keyOf({ resource, namespace = '', name = '' }: Place): string {
  return `${idOf(resource)} ${namespace}/${name}`;
}
