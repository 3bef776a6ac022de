import { setTimeout as pause } from 'node:timers/promises';
import type { Etcd3 } from 'etcd3';
import { labels } from '../../manifests/build/names.ts';
import type { Pod } from '../../manifests/kube-types.ts';
import { type Kube, resources } from '../../reconcile/kube.ts';
import { accessTo, connectTo } from '../e2e/support/client.ts';

/** A client that knows every endpoint, as an application that watches its etcd's membership: who fails it is left at once. */
export interface KnowingWriter {
  readonly acknowledged: number;
  /** The longest time between two acknowledged writes since this was last asked, in milliseconds. */
  gap(): number;
  /** Stops writing and reads everything back. */
  finish(): Promise<{ readonly acknowledged: number; readonly lost: number }>;
}

/** One write at one endpoint, in milliseconds: an election takes about one second. */
const patience = 1_000;
/** Between two looks at who is there, in milliseconds. */
const rhythm = 200;

export async function startKnowingWriter(
  kube: Kube,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  prefix: string,
): Promise<KnowingWriter> {
  const access = await accessTo(kube, namespace, name);
  const clients = new Map<string, Etcd3>();
  const scheme = new URL(access.url).protocol;
  const stop = new AbortController();
  const acknowledged: string[] = [];
  let [last, gap, tried] = [performance.now(), 0, 0];
  await look();

  const looking = (async () => {
    while (!stop.signal.aborted) {
      await pause(rhythm, undefined, { signal: stop.signal }).catch(() => undefined);
      await look();
    }
  })();
  const writing = (async () => {
    for (let number = 0; !stop.signal.aborted; number++) {
      const key = keyOf(number);
      tried = number;
      if (!(await written(key))) {
        await pause(5);
        continue;
      }
      acknowledged.push(key);
      const now = performance.now();
      gap = Math.max(gap, now - last);
      last = now;
    }
  })();

  return {
    get acknowledged() {
      return acknowledged.length;
    },
    gap: () => {
      const longest = gap;
      gap = 0;
      return longest;
    },
    finish: async () => {
      stop.abort();
      await Promise.all([writing, looking]);
      const reader = connectTo(access, 10_000);
      const there = new Set<string>();
      // All in one answer would be more than gRPC takes.
      for (let thousand = 0; thousand * 1000 <= tried; thousand++) {
        const some = keyOf(thousand * 1000).slice(0, -3);
        for (const key of await reader.getAll().prefix(some).keys()) there.add(key);
      }
      reader.close();
      for (const client of clients.values()) client.close();
      return { acknowledged: acknowledged.length, lost: acknowledged.filter((key) => !there.has(key)).length };
    },
  };

  function keyOf(number: number): string {
    return `${prefix}/${String(number).padStart(9, '0')}`;
  }

  /** At the first endpoint that takes it; one that did not is asked last from then on. */
  async function written(key: string): Promise<boolean> {
    for (const [address, client] of [...clients]) {
      try {
        await client.put(key).value(key);
        return true;
      } catch {
        clients.delete(address);
        clients.set(address, client);
      }
    }
    return false;
  }

  async function look(): Promise<void> {
    const selector = { namespace, labelSelector: `${labels.cluster}=${name}` };
    const { items } = await kube.list<Pod>(resources.pods, selector);
    const ready = items.filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined &&
        status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    );
    const addresses = new Set(ready.flatMap(({ status }) => status?.podIP ?? []));
    for (const address of addresses) {
      if (clients.has(address)) continue;
      clients.set(address, connectTo({ ...access, url: `${scheme}//${address}:2379` }, patience));
    }
    // Told that it is leaving: who knows every endpoint lets go of it before it is gone.
    for (const [address, client] of [...clients]) {
      if (addresses.has(address) || clients.size === 1) continue;
      clients.delete(address);
      void pause(patience).then(() => client.close());
    }
  }
}
