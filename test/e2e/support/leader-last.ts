import assert from 'node:assert/strict';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';

/** Whether each member that something befell led at that time, as the tick saw it. */
export interface LeaderLast {
  /** To be called with what each tick left behind. */
  look(cluster: EtcdCluster): void;
  /** All of them but the last one did not lead. @throws {AssertionError} */
  assert(count: number): void;
}

/**
 * The leader goes last. etcd may elect another one at any time, on a busy machine more than once: what counts is who
 * led when the member was chosen, not who led when all began.
 *
 * @param targetsOf the members that it befell so far, in their order.
 */
export function watchLeader(targetsOf: (cluster: EtcdCluster) => readonly (string | undefined)[]): LeaderLast {
  const seen: string[] = [];
  const leaders: string[] = [];
  return {
    look(cluster) {
      const targets = targetsOf(cluster);
      if (targets.length <= seen.length) return;
      const target = targets.at(-1) ?? '';
      seen.push(target);
      if (cluster.status?.leader === target) leaders.push(target);
    },
    assert(count) {
      assert.equal(seen.length, count, seen.join());
      assert.equal(new Set(seen).size, count, `each once: ${seen.join()}`);
      assert.ok(
        leaders.every((leader) => leader === seen.at(-1)),
        `the leader last: ${seen.join()}, of which led: ${leaders.join()}`,
      );
    },
  };
}
