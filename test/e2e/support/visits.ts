import { setTimeout as pause } from 'node:timers/promises';
import { type Access, connectTo } from './client.ts';
import { isPodReady, podsOf } from './leaves.ts';
import type { Scene } from './scene.ts';

/** Between two looks, in milliseconds. */
const rhythm = 50;

/** What this very member has, whoever leads: an election is no refusal. */
async function visit(access: Access, key: string): Promise<void> {
  const client = connectTo(access, 5000);
  try {
    await client.get(key).serializable(true).string();
  } finally {
    client.close();
  }
}

/** Visits each member by turns, with a connection that is new each time. */
export function startVisits(scene: Scene, name: string, who: string, look: () => Promise<Access>) {
  const stop = new AbortController();
  const failures: string[] = [];
  let visited = 0;
  const visiting = (async () => {
    while (!stop.signal.aborted) {
      for (const pod of await podsOf(scene, name)) {
        const access = { ...(await look()), url: `https://${pod.status?.podIP}:2379` };
        await visit(access, 'throughout/0').catch((error: unknown) => {
          failures.push(`${pod.metadata.name} at ${new Date().toISOString()}: ${error}`);
        });
        visited++;
      }
      await pause(rhythm, undefined, { signal: stop.signal }).catch(() => {});
    }
  })();
  return {
    who,
    visited: () => visited,
    async finish() {
      stop.abort();
      await visiting;
      return { visited, failures };
    },
  };
}

/** How often each pod of three was made anew, and how many were away at once at the most. */
export function watchPods(scene: Scene, name: string) {
  const stop = new AbortController();
  const seen = new Map<string, Set<string>>();
  let mostAway = 0;
  const looking = (async () => {
    while (!stop.signal.aborted) {
      const pods = await podsOf(scene, name);
      for (const { metadata } of pods) {
        const uids = seen.get(metadata.name) ?? new Set();
        seen.set(metadata.name, uids.add(metadata.uid ?? ''));
      }
      mostAway = Math.max(mostAway, 3 - pods.filter(isPodReady).length);
      await pause(rhythm, undefined, { signal: stop.signal }).catch(() => {});
    }
  })();
  const restarts = () => Object.fromEntries([...seen].map(([pod, uids]) => [pod, uids.size - 1]));
  return {
    restarts: () => Object.values(restarts()).reduce((sum, count) => sum + count, 0),
    async finish() {
      stop.abort();
      await looking;
      return { restarts: restarts(), mostAway };
    },
  };
}
