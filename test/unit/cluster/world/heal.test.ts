import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PersistentVolumeClaim } from '../../../../manifests/kube-types.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { bornWith } from '../../../support/world/born.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { sample } from '../../../support/world/crash.ts';
import { lifeOf } from '../../../support/world/life.ts';
import { assertWhole } from '../../../support/world/whole.ts';
import type { World } from '../../../support/world/world.ts';

const healing = { podGracePeriod: '20s', memberGracePeriod: '40s' };

async function healthyWorld(replicas = 3): Promise<World> {
  return bornWith({ replicas, healing });
}

const faults: Readonly<Record<string, (world: World) => void>> = {
  'its disk came back empty': (world) => world.wipe('orders-1'),
  'its volume was deleted': (world) => world.loseVolume('orders-1'),
  'its node is dead': (world) => world.loseNode('orders-1-0'),
};

describe('a member that is down for longer than its grace is replaced under another name, when', () => {
  for (const [what, strike] of Object.entries(faults)) {
    test(what, async () => {
      const world = await healthyWorld();
      strike(world);
      const end = await tickUntilConverged(world, { limit: 300 });
      assert.equal(end.kind, 'done', end.trail.join('\n'));
      assertWhole(world, 3, end.trail.join('\n'));
      assert.ok(end.trail.indexOf('act RemovingDeadMember acted') > end.trail.indexOf('act ReplacingMember acted'));
      const names = [...world.processes.values()].map(({ pod }) => pod.split('/')[1]).toSorted();
      assert.deepEqual(names, ['orders-0-0', 'orders-2-0', 'orders-3-0']);
    });

    test(`${what}, and the invocation dies at any write`, async () => {
      const struck = await healthyWorld();
      strike(struck);
      const life = await lifeOf(struck);
      assert.ok(life.writes > 10, `${life.writes} writes`);
      for (const crash of sample(life.places, 5)) {
        const { world } = await life.killedAt(crash);
        const end = await tickUntilConverged(world, { limit: 300 });
        const story = `${crash.when} ${crash.write}:\n${end.trail.join('\n')}`;
        assert.equal(end.kind, 'done', story);
        assertWhole(world, 3, story);
      }
    });
  }
});

describe('PVCs that are deleted while their members serve', () => {
  /** They stay until their pods are gone. */
  async function claimsDeleted(size: number, victims: readonly string[]): Promise<World> {
    const world = await healthyWorld(size);
    for (const victim of victims) {
      const claim = world.claims().find(({ metadata }) => metadata.name === victim) ?? assert.fail();
      const deletionTimestamp = new Date(world.now()).toISOString();
      world.kube.seed(resources.volumeClaims, { ...claim, metadata: { ...claim.metadata, deletionTimestamp } });
    }
    return world;
  }

  function assertOutlived(world: World, size: number, trail: readonly string[]): void {
    const story = trail.join('\n');
    assertWhole(world, size, story);
    assert.deepEqual(world.state.violations, [], story);
    assert.ok(
      world.claims().every(({ metadata }) => metadata.deletionTimestamp === undefined),
      story,
    );
    const steps = trail.filter((line) => /^act (SealingMembers|RemovingMember) acted/.test(line));
    assert.match(steps[0] ?? '', /SealingMembers/, `one votes before another leaves:\n${story}`);
  }

  for (const [size, victims] of [
    [3, ['orders-1']],
    [3, ['orders-0', 'orders-1', 'orders-2']],
    [2, ['orders-0']],
    [1, ['orders-0']],
  ] as const) {
    test(`${victims.length} of ${size}: none leaves before another one votes in its place`, async () => {
      const world = await claimsDeleted(size, victims);
      const { kind, trail } = await tickUntilConverged(world, { limit: 300 });
      assert.equal(kind, 'done', trail.join('\n'));
      assertOutlived(world, size, trail);
    });
  }

  test('one of three, and the invocation dies at any write', async () => {
    const life = await lifeOf(await claimsDeleted(3, ['orders-1']));
    assert.ok(life.writes > 10, `${life.writes} writes`);
    for (const crash of sample(life.places, 9)) {
      const { world } = await life.killedAt(crash);
      const { kind, trail } = await tickUntilConverged(world, { limit: 300 });
      assert.equal(kind, 'done', `${crash.when} ${crash.write}:\n${trail.join('\n')}`);
      assertWhole(world, 3, trail.join('\n'));
      assert.deepEqual(world.state.violations, [], trail.join('\n'));
    }
  });
});

describe('no member is replaced', () => {
  test('before the grace is over', async () => {
    const world = await healthyWorld();
    world.loseNode('orders-1-0');
    for (let seconds = 0; seconds < 36; seconds += 4) {
      world.settle();
      const result = await world.tick();
      assert.equal(result?.decision.kind, 'wait', result?.decision.message);
      world.advance(4);
    }
    assert.match((await world.tick())?.decision.message ?? '', /memberGracePeriod/);
  });

  test('who comes back in time', async () => {
    const world = await healthyWorld();
    world.kill('orders-1-0');
    const end = await tickUntilConverged(world);
    assert.equal(end.kind, 'done');
    assert.equal(end.acts, 0);
    assertWhole(world, 3, end.trail.join('\n'));
  });

  test('while the others are no quorum: the last copies are never given up (I9)', async () => {
    for (const lost of [
      ['orders-1-0', 'orders-2-0'],
      ['orders-0-0', 'orders-1-0'],
    ]) {
      const world = await healthyWorld();
      for (const pod of lost) world.loseNode(pod);
      await assertNothingDone(world);
      assert.equal(world.claims().length, 3);
    }
  });

  test('in a cluster of one or two: no other member could vouch', async () => {
    for (const size of [1, 2]) {
      const world = await healthyWorld(size);
      world.loseNode('orders-0-0');
      await assertNothingDone(world);
    }
  });
});

describe('while a member is joining', () => {
  test('and it never starts: it is removed after its grace, retried, then a person is asked', async () => {
    const world = await healthyWorld();
    world.classes.set('none', { binding: 'WaitForFirstConsumer', grows: false });
    world.dieWhen(({ metadata }) => !['orders-0-0', 'orders-1-0', 'orders-2-0'].includes(metadata.name));
    await world.apply({ replicas: 4, healing });
    const end = await tickUntilConverged(world, { limit: 400 });
    assert.equal(end.reason, 'LearnersFail', end.trail.join('\n'));
    assert.equal(end.trail.filter((line) => line === 'act RemovingFailedLearner acted').length, 2);
    assertWhole(world, 3, end.trail.join('\n'));
    world.dieWhen(() => false);
    await world.apply({ replicas: 4, healing: { ...healing, podGracePeriod: '21s' } });
    const again = await tickUntilConverged(world, { limit: 400 });
    assert.equal(again.kind, 'done', again.trail.join('\n'));
    assertWhole(world, 4, again.trail.join('\n'));
  });

  test('and the API server is away before its pod is made: its time begins when it starts', async () => {
    const world = await healthyWorld();
    await world.apply({ replicas: 4, healing });
    for (let ticks = 0; ticks < 12; ticks += 1) {
      world.settle();
      world.advance(2);
      if ((await world.tick())?.decision.reason === 'PreparingMember') break;
    }
    assert.equal((await world.tick())?.decision.reason, 'LearnerStarting', 'its status says since when it is not well');
    world.advance(300);
    const end = await tickUntilConverged(world, { limit: 100 });
    assert.equal(end.kind, 'done', end.trail.join('\n'));
    assert.ok(!end.trail.includes('act RemovingFailedLearner acted'), end.trail.join('\n'));
    assertWhole(world, 4, end.trail.join('\n'));
  });

  test('and it never starts, until what it died of is cured: it is tried again by itself', async () => {
    const world = await healthyWorld();
    world.dieWhen(({ metadata }) => !['orders-0-0', 'orders-1-0', 'orders-2-0'].includes(metadata.name));
    await world.apply({ replicas: 4, healing });
    const failed = await tickUntilConverged(world, { limit: 400 });
    assert.equal(failed.reason, 'LearnersFail', failed.trail.join('\n'));
    assert.match(failed.message, /MemberKeepsExiting/);
    world.dieWhen(() => false);
    world.advance(700);
    const end = await tickUntilConverged(world, { limit: 400 });
    assert.equal(end.kind, 'done', end.trail.join('\n'));
    assertWhole(world, 4, end.trail.join('\n'));
  });

  test('and a voter dies: the joining member replaces it, and another joins after that', async () => {
    for (const ticks of [1, 2, 3, 4, 5]) {
      const world = await healthyWorld();
      await world.apply({ replicas: 4, healing });
      for (let tick = 0; tick < ticks; tick += 1) {
        world.settle();
        await world.tick();
      }
      world.loseNode('orders-1-0');
      const end = await tickUntilConverged(world, { limit: 400 });
      assert.equal(end.kind, 'done', end.trail.join('\n'));
      assertWhole(world, 4, `${ticks}:\n${end.trail.join('\n')}`);
    }
  });
});

describe('a person changes the membership', () => {
  test('by removing a member by hand: its volume is kept, and another member comes', async () => {
    const world = await healthyWorld();
    const [formation] = world.formations.values();
    const claim = world.claims().find(({ metadata }) => metadata.name === 'orders-1');
    const memberId = claim?.metadata.annotations?.['etcd.ratchet.dev/member-id'] ?? assert.fail();
    if (!formation) return assert.fail();
    formation.members = formation.members.filter(({ id }) => id !== memberId);
    formation.removed.add(memberId);
    world.state.changes += 1;
    const end = await tickUntilConverged(world, { limit: 300 });
    assert.equal(end.kind, 'done', end.trail.join('\n'));
    assertWhole(world, 3, end.trail.join('\n'));
    const kept = world.kube.stored<PersistentVolumeClaim>(resources.volumeClaims).map(({ metadata }) => metadata.name);
    assert.deepEqual(kept.toSorted(), ['orders-0', 'orders-1', 'orders-2', 'orders-3']);
  });
});

test('what is left of a member on a dead node keeps no other from being started anew', async () => {
  const world = await healthyWorld();
  world.loseNode('orders-1-0');
  await tickUntilConverged(world, { limit: 300 });
  await world.apply({ replicas: 3, healing, etcd: { snapshotCount: 5000 } });
  const end = await tickUntilConverged(world, { limit: 300 });
  assert.equal(end.kind, 'done', end.trail.join('\n'));
  assertWhole(world, 3, end.trail.join('\n'));
});

/** A wait has no end of its own: that it goes on is what is expected. Whatever else the world finds is a failure. */
async function assertNothingDone(world: World): Promise<void> {
  const { trail } = await tickUntilConverged(world, { limit: 300 }).catch((error: unknown) => {
    if (!(error instanceof assert.AssertionError) || !error.message.startsWith('no end after')) throw error;
    return { trail: [error.message] };
  });
  assert.ok(!trail.join('\n').includes('acted'), trail.join('\n'));
}
