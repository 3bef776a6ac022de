import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { assertWhole } from '../../../support/world/whole.ts';
import { createWorld, type World } from '../../../support/world/world.ts';

const healing = { podGracePeriod: '20s', memberGracePeriod: '40s' };
const before = { replicas: 3, healing, storage: { size: '1Gi', storageClassName: 'immediate' } };
const after = { ...before, storage: { size: '1Gi', storageClassName: 'rigid' } };

function classes(world: World): readonly (string | undefined)[] {
  return world.claims().map(({ spec }) => spec.storageClassName);
}

async function withChangedClass(): Promise<World> {
  const world = createWorld();
  await world.apply(before);
  await tickUntilConverged(world);
  await world.apply(after);
  return world;
}

/** As `kubectl delete pvc --wait=false` does while its pod runs. */
function deleteClaim(world: World, name: string): void {
  const claim = world.claims().find(({ metadata }) => metadata.name === name) ?? assert.fail(name);
  const deletionTimestamp = new Date(world.now()).toISOString();
  world.kube.seed(resources.volumeClaims, { ...claim, metadata: { ...claim.metadata, deletionTimestamp } });
}

test('another storage class after birth is refused by name, and changes nothing', async () => {
  const world = await withChangedClass();
  const { kind, reason, trail } = await tickUntilConverged(world);
  assert.deepEqual([kind, reason], ['refuse', 'StorageClassRefused'], trail.join('\n'));
  assert.deepEqual(
    world.cluster()?.status?.refusals?.map(({ field }) => field),
    ['spec.storage.storageClassName'],
  );
  assert.deepEqual(classes(world), ['immediate', 'immediate', 'immediate']);
  assertWhole(world, 3, trail.join('\n'));
});

test("the message's cure, run for each member, moves all of them and ends the refusal", async () => {
  const world = await withChangedClass();
  const moved: string[] = [];
  for (;;) {
    const { kind, trail } = await tickUntilConverged(world, { limit: 300 });
    assertWhole(world, 3, trail.join('\n'));
    if (kind === 'done') break;
    const [refusal] = world.cluster()?.status?.refusals ?? [];
    const [, name = ''] = / delete pvc (\S+) --wait=false/.exec(refusal?.message ?? '') ?? [];
    assert.ok(!moved.includes(name), `${name} twice: ${trail.join('\n')}`);
    moved.push(name);
    deleteClaim(world, name);
  }
  assert.deepEqual(moved, ['orders-0', 'orders-1', 'orders-2']);
  assert.deepEqual(classes(world), ['rigid', 'rigid', 'rigid']);
});

test('a class that does not exist does not stop a lost member from being replaced', async () => {
  const world = createWorld();
  await world.apply(before);
  await tickUntilConverged(world);
  await world.apply({ ...before, storage: { size: '1Gi', storageClassName: 'fsat' } });
  await tickUntilConverged(world);
  world.loseVolume('orders-1');
  const { kind, reason, trail } = await tickUntilConverged(world, { limit: 300 });
  assert.deepEqual([kind, reason], ['refuse', 'StorageClassRefused'], trail.join('\n'));
  assertWhole(world, ['orders-0', 'orders-2', 'orders-3'], trail.join('\n'));
});
