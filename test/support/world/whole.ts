import assert from 'node:assert/strict';
import type { World } from './world.ts';

/**
 * As it should be: no invariant was violated, members form one cluster, all of them vote and run, nobody else is on the
 * list, and each has every acknowledged write.
 *
 * @param members how many there are, or who they are
 * @param story what led there, for the message
 */
export function assertWhole(world: World, members: number | readonly string[], story: string): void {
  assert.deepEqual(world.violations, [], story);
  const running = [...world.processes.values()];
  const names = running.map(({ pod }) => pod.split('/')[1]?.replace(/-0$/, ''));
  if (typeof members !== 'number') assert.deepEqual(names.toSorted(), members.toSorted(), story);
  const size = typeof members === 'number' ? members : members.length;
  assert.equal(running.length, size, story);
  const [clusterId = '', ...others] = new Set(running.map(({ data }) => data.clusterId));
  assert.deepEqual(others, [], story);
  const formation = world.formations.get(clusterId);
  assert.deepEqual(
    formation?.members.map(({ isLearner }) => isLearner),
    Array(size).fill(false),
    story,
  );
  for (const { data, pod } of running) assert.equal(data.applied, formation?.acknowledged, `${pod}: ${story}`);
}
