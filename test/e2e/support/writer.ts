import { setTimeout as pause } from 'node:timers/promises';
import { type Access, connectTo } from './client.ts';
import { measureGaps } from './gaps.ts';

/**
 * A client that writes all the time through the cluster's Service, and remembers what it was told was written. Its gaps
 * are its own patience as well as the cluster's: `startKnowingWriter` measures the latter alone.
 */
export interface Writer {
  /** Writes acknowledged so far. */
  readonly acknowledged: number;
  /** The longest time without an acknowledged write since this was last asked, up to now, in milliseconds. */
  gap(): number;
  /**
   * Stops writing and reads everything back. @returns what was acknowledged and is not there, and the longest gap in
   * milliseconds.
   */
  finish(): Promise<{ readonly acknowledged: number; readonly lost: readonly string[]; readonly longestGap: number }>;
}

/**
 * How long one write may take, in milliseconds. What is under way while leadership moves, etcd may leave without an
 * answer (ARCHITECTURE.md, Versions): a longer patience would measure itself, and not the cluster.
 */
const patience = 500;
/**
 * From one write to the next, in milliseconds: without a rest, the writer and etcd would have the whole machine to
 * themselves.
 */
const rhythm = 30;

/** Starts writing numbered keys under `prefix`, one after the other, through the cluster's Service. */
export function startWriter(access: Access, prefix: string): Writer {
  const client = connectTo(access, patience);
  const acknowledged: string[] = [];
  const gaps = measureGaps();
  let stopped = false;

  const writing = (async () => {
    for (let number = 0; !stopped; number++) {
      const key = `${prefix}/${number}`;
      try {
        await client.put(key).value(`value of ${key}`);
      } catch {
        // Not told that it was written: nothing is promised about this key. The next is tried when etcd may be back.
        await pause(20);
        continue;
      }
      acknowledged.push(key);
      gaps.acknowledged();
      await pause(rhythm);
    }
  })();

  return {
    get acknowledged() {
      return acknowledged.length;
    },
    gap: gaps.recent,
    async finish() {
      stopped = true;
      await writing;
      const longestGap = gaps.longest();
      gaps.close();
      // By the same connection: what a new one would need may have changed meanwhile.
      const found = await client
        .getAll()
        .prefix(`${prefix}/`)
        .options({ deadline: Date.now() + 30_000 })
        .strings();
      const lost = acknowledged.filter((key) => found[key] !== `value of ${key}`);
      client.close();
      return { acknowledged: acknowledged.length, lost, longestGap };
    },
  };
}
