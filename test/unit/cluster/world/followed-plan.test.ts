import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partOf } from '../../../run/part.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { crashesIn, killer, text, tickUntilKilled } from '../../../support/world/crash.ts';
import { createWorld, type World } from '../../../support/world/world.ts';

async function grown(): Promise<World> {
  const world = createWorld();
  await world.apply({ replicas: 1 });
  assert.equal((await tickUntilConverged(world)).kind, 'done');
  await world.apply({ replicas: 2, etcd: { snapshotCount: 100 } });
  return world;
}

function receiptOf(world: World): string | undefined {
  return world.cluster()?.status?.plan?.message;
}

test('an invocation that dies at any write leaves a plan that is kept, or says so', async () => {
  const counted = killer();
  await tickUntilConverged(await grown(), { faults: counted });
  const crashes = partOf(crashesIn(counted.writes()));
  assert.ok(crashes.length > 10, String(crashes.length));
  for (const crash of crashes) {
    const world = await grown();
    await tickUntilKilled(world, crash);
    const end = await tickUntilConverged(world);
    assert.equal(end.kind, 'done', text(crash));
    const told = receiptOf(world) ?? 'no receipt';
    assert.match(
      told,
      /^as planned, \d+ of \d+ steps$|, after a step that failed or was cut off: .* came, where /,
      `${text(crash)}\n${end.trail.join('\n')}`,
    );
  }
});

test('what breaks in the middle is told, and stays told once the cluster is well', async () => {
  const world = createWorld();
  await world.apply({ replicas: 3 });
  assert.equal((await tickUntilConverged(world)).kind, 'done');
  await world.apply({ replicas: 3, etcd: { snapshotCount: 100 } });
  world.settle();
  await world.tick();
  assert.match(receiptOf(world) ?? '', /^1 of 3 steps$/);
  world.loseVolume('orders-0');
  const meanwhile = async () => world.advance(60);
  assert.equal((await tickUntilConverged(world, { meanwhile })).kind, 'done');
  const told = receiptOf(world) ?? '';
  assert.match(told, /^left its plan at step \d of 3: .* came, where change-template orders-\d .* was planned$/);
  await tickUntilConverged(world);
  assert.equal(receiptOf(world), told);
  await world.apply({ replicas: 3 });
  await tickUntilConverged(world);
  assert.match(receiptOf(world) ?? '', /^as planned/, 'another commit has a plan of its own');
});
