import { setTimeout as delay } from 'node:timers/promises';
import { type Api, ApiError } from './api.ts';
import type { Log } from './options.ts';
import { type KubeObject, keyOf } from './wire.ts';

export type Informer<T> = {
  readonly path: string;
  get(key: string): T | undefined;
  list(): T[];
  /** Called for every object there is now and for each later change; `undefined` as `object` means that it is gone. */
  onChange(listener: Listener<T>): void;
  /** Resolves when the first list has been read. */
  readonly synced: Promise<void>;
};

export type Listener<T> = (object: T | undefined, previous: T | undefined) => void;

type List<T> = { metadata: { resourceVersion: string }; items: T[] };

/**
 * One list and one watch of `path` (with its query, if any), kept up until the signal aborts. A lost watch is resumed
 * from the last version seen; a version too old, or a lost server, means a new list whose differences are reported.
 */
export function startInformer<T extends KubeObject>(
  { api, log, signal }: { api: Api; log: Log; signal: AbortSignal },
  path: string,
): Informer<T> {
  const store = new Map<string, T>();
  const listeners: Listener<T>[] = [];
  const { promise: synced, resolve: reportSynced } = Promise.withResolvers<void>();
  const join = path.includes('?') ? '&' : '?';

  function put(object: T): void {
    const known = store.get(keyOf(object));
    if (known?.metadata.resourceVersion === object.metadata.resourceVersion) return;
    // Deleted and made again while nobody looked: two objects, not a change of one.
    const successor = known !== undefined && known.metadata.uid !== object.metadata.uid;
    if (successor) drop(known);
    store.set(keyOf(object), object);
    for (const listener of listeners) listener(object, successor ? undefined : known);
  }

  function drop(object: T): void {
    const previous = store.get(keyOf(object));
    if (!previous) return;
    store.delete(keyOf(object));
    for (const listener of listeners) listener(undefined, previous);
  }

  async function list(): Promise<string> {
    const { metadata, items } = await api.get<List<T>>(path);
    const keys = new Set(items.map(keyOf));
    for (const [key, object] of store) if (!keys.has(key)) drop(object);
    for (const object of items) put(object);
    reportSynced();
    return metadata.resourceVersion;
  }

  async function follow(from: string): Promise<string | undefined> {
    let version = from;
    const query = `watch=1&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=${version}`;
    for await (const { type, object } of api.watch<T>(`${path}${join}${query}`, signal)) {
      if (type === 'ERROR') return undefined;
      version = object.metadata.resourceVersion;
      if (type === 'DELETED') drop(object);
      else if (type !== 'BOOKMARK') put(object);
    }
    return version;
  }

  async function run(): Promise<void> {
    let version: string | undefined;
    let failures = 0;
    while (!signal.aborted) {
      try {
        const startedAt = Date.now();
        version = version === undefined ? await list() : await follow(version);
        failures = Date.now() - startedAt < 1000 && version !== undefined && failures > 0 ? failures : 0;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ApiError) version = undefined;
        failures++;
        log.debug({ path, error: String(error) }, 'list or watch failed, trying again');
        const waitMs = Math.min(5000, 100 * 2 ** Math.min(failures, 10)) * (0.5 + Math.random() / 2);
        await delay(waitMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  void run();
  return {
    path,
    get: (key) => store.get(key),
    list: () => [...store.values()],
    onChange: (listener) => {
      listeners.push(listener);
      for (const object of store.values()) listener(object, undefined);
    },
    synced,
  };
}
