import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PlannedStep } from '../../../../reconcile/cluster/foresee/plan.ts';
import { bornWith } from '../../../support/world/born.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { fillUp } from '../../../support/world/harm.ts';
import type { World } from '../../../support/world/world.ts';

const MiB = 2 ** 20;
const quota = 100 * MiB;

const specOf = (replicas: number, quotaBackendBytes = '100Mi') => ({ replicas, etcd: { quotaBackendBytes } });

const lines = (steps: readonly PlannedStep[]) => steps.map(({ action, target = '' }) => `${action} ${target}`);

async function planned(world: World, spec: ReturnType<typeof specOf>) {
  const { planned: plan, problem } = await world.plan(spec);
  return plan ?? assert.fail(problem);
}

describe('what a plan says of a cluster out of space is what is done', () => {
  for (const replicas of [1, 3]) {
    test(`a larger quota restarts ${replicas}, whose alarm outlives that and is then disarmed`, async () => {
      const world = await bornWith(specOf(replicas));
      const space = fillUp(world, { quota, live: 100 * MiB, history: 0 });
      assert.equal((await tickUntilConverged(world)).reason, 'NoSpace');

      const { steps, end } = await planned(world, specOf(replicas, '400Mi'));
      assert.equal(steps.at(-1)?.action, 'disarm-alarm');
      space.quota = 400 * MiB;
      await world.apply(specOf(replicas, '400Mi'));
      const reached = await tickUntilConverged(world);
      assert.deepEqual(lines(steps), lines(reached.steps));
      assert.equal(end.reason, reached.reason);
    });
  }

  test('what members do not count yet is not foretold, and all is once one of them tells', async () => {
    const world = await bornWith(specOf(3));
    fillUp(world, { quota, live: 10 * MiB, history: 90 * MiB }).uncounted = true;
    for (const action of ['compact', 'defragment-member']) {
      const { steps, end } = await planned(world, specOf(3));
      assert.deepEqual(
        steps.map((step) => step.action),
        [action],
      );
      assert.equal(end.kind, 'waits');
      world.settle();
      await world.tick({});
    }
    const { steps, end } = await planned(world, specOf(3));
    const reached = await tickUntilConverged(world);
    assert.deepEqual(lines(steps), lines(reached.steps));
    assert.equal(end.reason, reached.reason);
  });
});
