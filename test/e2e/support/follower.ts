import { setTimeout as pause } from 'node:timers/promises';
import type { Etcd3 } from 'etcd3';
import { type Access, connectTo } from './client.ts';

/**
 * A writer like `startWriter`, but one that reads its certificates again when they change, as an application does that
 * mounts the Secret: it connects anew with them before it lets go of the connection it has.
 */
export interface Follower {
  readonly acknowledged: number;
  /** How often it took up new certificates. */
  readonly renewals: number;
  /** The longest gap between two acknowledged writes since this was last asked, in milliseconds. */
  gap(): { readonly milliseconds: number };
  /** Stops writing and reads everything back. */
  finish(): Promise<{ readonly acknowledged: number; readonly lost: readonly string[] }>;
}

const patience = 2000;
/** Between two looks at the certificates, in milliseconds. */
const rhythm = 250;
/**
 * From one write to the next, in milliseconds: without a rest, it and etcd would have the whole machine to themselves.
 */
const breath = 20;

export async function startFollower(look: () => Promise<Access>, prefix: string): Promise<Follower> {
  let held = await look();
  let client = connectTo(held, patience);
  const acknowledged: string[] = [];
  let [last, gap, renewals] = [performance.now(), 0, 0];
  const stop = new AbortController();

  const writing = (async () => {
    for (let number = 0; !stop.signal.aborted; number++) {
      const key = `${prefix}/${number}`;
      if (!(await written(client, key))) {
        await pause(10);
        continue;
      }
      acknowledged.push(key);
      const now = performance.now();
      gap = Math.max(gap, now - last);
      last = now;
      await pause(breath);
    }
  })();

  const following = (async () => {
    while (!stop.signal.aborted) {
      await pause(rhythm, undefined, { signal: stop.signal }).catch(() => {});
      const found = await look().catch(() => held);
      // Deleted, it stays as it was mounted until there is a new one.
      if (isSame(found, held) || found.credentials?.certChain?.length === 0) continue;
      const next = connectTo(found, patience);
      if (!(await written(next, `${prefix}/hello`))) {
        next.close();
        continue;
      }
      const former = client;
      [client, held] = [next, found];
      renewals++;
      // Writes that are under way on it may end there.
      await pause(patience, undefined, { signal: stop.signal }).catch(() => {});
      former.close();
    }
  })();

  return {
    get acknowledged() {
      return acknowledged.length;
    },
    get renewals() {
      return renewals;
    },
    gap() {
      const said = { milliseconds: Math.round(Math.max(gap, performance.now() - last)) };
      [gap, last] = [0, performance.now()];
      return said;
    },
    async finish() {
      stop.abort();
      await Promise.all([writing, following]);
      const found = await client
        .getAll()
        .prefix(`${prefix}/`)
        .options({ deadline: Date.now() + 30_000 })
        .strings();
      client.close();
      return {
        acknowledged: acknowledged.length,
        lost: acknowledged.filter((key) => found[key] !== `value of ${key}`),
      };
    },
  };
}

async function written(client: Etcd3, key: string): Promise<boolean> {
  try {
    await client.put(key).value(`value of ${key}`);
    return true;
  } catch {
    // Not told that it was written: nothing is promised about this key.
    return false;
  }
}

function isSame({ credentials: a }: Access, { credentials: b }: Access): boolean {
  if (!a || !b) return a === b;
  return `${a.rootCertificate}${a.certChain}` === `${b.rootCertificate}${b.certChain}`;
}
