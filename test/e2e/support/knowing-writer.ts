import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Etcd3 } from 'etcd3';
import type { Pod } from '../../../manifests/kube-types.ts';
import { labels } from '../../../manifests/render/names.ts';
import { type Kube, KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { type Access, accessTo, connectTo, lookUpAccess } from './client.ts';
import { measureGaps } from './gaps.ts';

/**
 * A client that knows every endpoint, as an application that watches its etcd's membership: who fails it is left at
 * once, and a write that is not answered soon is sent to the next as well, which does no harm because it says the same.
 *
 * Without the latter its gaps would be its own deadline. While leadership moves, the old leader drops what followers
 * pass on to it, and nobody tells them: their clients wait until they have had enough, or for etcd's own seven seconds.
 */
export interface KnowingWriter {
  readonly acknowledged: number;
  /**
   * The longest time between two acknowledged writes since this was last asked, what this process slept through
   * included.
   */
  gap(): Gap;
  /**
   * The longest time without an acknowledged write since this was last asked, up to now, but for what this process
   * slept through.
   */
  longestGap(): number;
  /** Stops writing and reads everything back. */
  finish(): Promise<{ readonly acknowledged: number; readonly lost: number; readonly longestGap: number }>;
}

export interface Gap {
  readonly milliseconds: number;
  /** When it was over, by `Date.now()`. */
  readonly end: number;
  /** What went wrong meanwhile: endpoints, in the order in which they were left. */
  readonly left: readonly string[];
}

/** One write at one endpoint, in milliseconds: an election takes about one second. */
const patience = 1_000;
/** Until the next endpoint is asked as well, in milliseconds, unless a test says another time. A write takes a few. */
const usuallySoon = 50;
/**
 * From one write to the next, in milliseconds: without a rest it would have half the machine to itself, and measure
 * that. Gaps count from hundreds of milliseconds on.
 */
const breath = 20;
/** Between two looks at who is there, in milliseconds. */
const rhythm = 200;

export async function startKnowingWriter(
  kube: Kube,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  prefix: string,
  options: { readonly soon?: number } = {},
): Promise<KnowingWriter> {
  const follow = () => lookUpAccess(kube, namespace, name);
  return writerAt(kube, { namespace, name }, await accessTo(kube, namespace, name), prefix, { ...options, follow });
}

/** The same where the cluster also has members of another origin, or has no other yet. */
export async function writerAt(
  kube: Kube,
  {
    namespace,
    name,
    alsoLabelled,
  }: { readonly namespace: string; readonly name: string; readonly alsoLabelled?: string },
  first: Access,
  prefix: string,
  { soon = usuallySoon, follow }: { readonly soon?: number; readonly follow?: () => Promise<Access> } = {},
): Promise<KnowingWriter> {
  const clients = new Map<string, Etcd3>();
  const scheme = new URL(first.url).protocol;
  let access = first;
  const stop = new AbortController();
  const acknowledged: string[] = [];
  const gaps = measureGaps();
  const none: Gap = { milliseconds: 0, end: 0, left: [] };
  let [last, tried, gap] = [performance.now(), 0, none];
  let left: string[] = [];
  await look();

  const looking = (async () => {
    while (!stop.signal.aborted) {
      await pause(rhythm, undefined, { signal: stop.signal }).catch(() => undefined);
      // Writes don't depend on the API server: one that does not answer is asked again.
      await look().catch((error: unknown) => {
        if (!(error instanceof KubeError)) throw error;
      });
    }
  })();
  const writing = (async () => {
    for (let number = 0; !stop.signal.aborted; number++) {
      const key = keyOf(number);
      tried = number;
      await pause(breath);
      if (!(await written(key))) continue;
      acknowledged.push(key);
      gaps.acknowledged();
      const end = performance.now();
      if (end - last > gap.milliseconds) gap = { milliseconds: end - last, end: Date.now(), left };
      [last, left] = [end, []];
    }
  })();

  return {
    get acknowledged() {
      return acknowledged.length;
    },
    gap: () => {
      const longest = gap;
      gap = none;
      return longest;
    },
    longestGap: gaps.recent,
    finish: async () => {
      stop.abort();
      await Promise.all([writing, looking]);
      const longestGap = gaps.longest();
      gaps.close();
      const [url] = clients.keys();
      const reader = connectTo(url === undefined ? access : { ...access, url: `${scheme}//${url}:2379` }, 10_000);
      const there = new Set<string>();
      // All in one answer would be more than gRPC takes.
      for (let thousand = 0; thousand * 1000 <= tried; thousand++) {
        const some = keyOf(thousand * 1000).slice(0, -3);
        for (const key of await reader.getAll().prefix(some).keys()) there.add(key);
      }
      reader.close();
      for (const client of clients.values()) client.close();
      const lost = acknowledged.filter((key) => !there.has(key)).length;
      return { acknowledged: acknowledged.length, lost, longestGap };
    },
  };

  function keyOf(number: number): string {
    return `${prefix}/${String(number).padStart(9, '0')}`;
  }

  /** By the first that takes it. The next is asked when one has failed, or has not answered soon. */
  async function written(key: string): Promise<boolean> {
    const taken = Promise.withResolvers<true>();
    const answers: Promise<boolean>[] = [];
    for (const [address, client] of [...clients]) {
      const answer = client
        .put(key)
        .value(key)
        .then(
          () => true,
          () => leave(address, 'failed'),
        );
      void answer.then((isTaken) => isTaken && taken.resolve(true));
      answers.push(answer);
      const first = await Promise.race([taken.promise, answer, pause(soon, 'late' as const)]);
      if (first === true) return true;
      if (first === 'late') leave(address, 'late');
    }
    return Promise.race([taken.promise, Promise.all(answers).then((all) => all.includes(true))]);
  }

  /** It is asked last from then on. */
  function leave(address: string, why: string): false {
    left.push(`${address} ${why}`);
    const client = clients.get(address);
    if (client) {
      clients.delete(address);
      clients.set(address, client);
    }
    return false;
  }

  /** New certificates, as an application that mounts the Secret: it connects anew to all. */
  async function takeUp(): Promise<void> {
    const found = await follow?.();
    const { certChain, rootCertificate } = found?.credentials ?? {};
    if (!found || !certChain?.length || !rootCertificate?.length || isDeepStrictEqual(found, access)) return;
    access = found;
    const former = [...clients.values()];
    clients.clear();
    void pause(patience).then(() => former.map((client) => client.close()));
  }

  async function look(): Promise<void> {
    const selectors = [`${labels.cluster}=${name}`, ...(alsoLabelled === undefined ? [] : [alsoLabelled])];
    const lists = selectors.map((labelSelector) => kube.list<Pod>(resources.pods, { namespace, labelSelector }));
    const pods = (await Promise.all(lists)).flatMap(({ items }) => items);
    const ready = pods.filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined &&
        status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    );
    await takeUp();
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
