import type { ActionOf } from '../actions.ts';
import { withEtcd } from '../etcd-way.ts';
import type { ActContext } from './context.ts';

/** How long one step adds entries, in milliseconds: well within its claim. */
const patienceMs = 8_000;
/** Asked at once, so that one write to the disk takes several of them. */
const sideBySide = 16;

/**
 * Listing the alarms is a proposal of its own and changes nothing (on 3.5, 3.6 and 3.7): each adds an entry to raft's log. What
 * is not reached in this step the next one goes on with.
 */
export async function advanceLog(
  { clusterId, index }: ActionOf<'advance-log'>,
  { etcd: way, signal }: ActContext,
): Promise<void> {
  const wanted = BigInt(index);
  const until = performance.now() + patienceMs;
  await withEtcd(way, async (etcd, endpoints) => {
    const applied = async () => {
      const asked = await Promise.all(endpoints.map((endpoint) => etcd.status(endpoint, { signal })));
      return asked.map(({ raftAppliedIndex }) => raftAppliedIndex).toSorted((a, b) => Number(a - b))[0] ?? 0n;
    };
    for (let missing = wanted - (await applied()); missing > 0n; missing = wanted - (await applied())) {
      for (let sent = 0; BigInt(sent) < missing; sent += sideBySide) {
        if (performance.now() > until) return;
        signal.throwIfAborted();
        const some = Array.from({ length: sideBySide }, () => etcd.alarms(endpoints, { signal, clusterId }));
        await Promise.all(some);
      }
    }
  });
}
