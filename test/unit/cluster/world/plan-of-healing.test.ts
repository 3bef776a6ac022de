import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlannedStep } from '../../../../reconcile/cluster/foresee/plan.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { bornWith } from '../../../support/world/born.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import type { World } from '../../../support/world/world.ts';

const spec = { replicas: 3, healing: { podGracePeriod: '20s', memberGracePeriod: '40s' } } as const;

const faults: Readonly<Record<string, (world: World) => void>> = {
  'its disk came back empty': (world) => world.wipe('orders-1'),
  'its volume was deleted': (world) => world.loseVolume('orders-1'),
  'its node is dead': (world) => world.loseNode('orders-1-0'),
};

const line = ({ action, target = '', reason }: PlannedStep) => `${action} ${target} ${reason}`;

for (const [what, strike] of Object.entries(faults)) {
  test(`once the first step is due, healing is foretold to its end: ${what}`, async () => {
    const world = await bornWith(spec);
    strike(world);
    const { steps, end } = await planOnceDue(world);
    const reached = await tickUntilConverged(world, { limit: 300 });
    assert.deepEqual(reached.steps.map(line), steps.map(line), reached.trail.join('\n'));
    assert.equal(end.reason, reached.reason);
  });
}

test('whether a pod that is made anew fares better is not foretold, nor that a person is needed', async () => {
  const world = await bornWith(spec);
  const status = { conditions: [{ type: 'Ready', status: 'True' }] };
  world.kube.seed(resources.nodes, { metadata: { name: 'node-1' }, status });
  world.holdUp(({ metadata }) => (metadata.name === 'orders-1-0' ? 'FailedMount' : undefined));
  world.kill('orders-1-0');
  const { steps, end } = await planOnceDue(world);
  assert.deepEqual([steps.map(({ action }) => action), end.kind], [['recreate-pod'], 'waits']);
  await world.tick({});
  const later = await planOnceDue(world);
  const reached = await tickUntilConverged(world, { limit: 400 });
  assert.deepEqual(reached.steps.map(line), later.steps.map(line), reached.trail.join('\n'));
  assert.deepEqual([later.end.kind, reached.kind], ['done', 'done']);
});

/** The plan just before the first step is taken. */
async function planOnceDue(world: World) {
  for (let ticks = 0; ticks < 300; ticks += 1) {
    world.settle();
    const { planned, problem } = await world.plan(spec);
    assert.ok(planned, problem);
    const ahead = await world.tick({}, { dryRun: true });
    if (ahead?.decision.kind === 'act') return planned;
    await world.tick({});
    world.advance(5);
  }
  return assert.fail('no step is due');
}
