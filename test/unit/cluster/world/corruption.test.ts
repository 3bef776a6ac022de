import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations } from '../../../../manifests/render/names.ts';
import { bornWith } from '../../../support/world/born.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { sample } from '../../../support/world/crash.ts';
import { raiseCorrupt, spoil } from '../../../support/world/harm.ts';
import { lifeOf } from '../../../support/world/life.ts';
import type { World } from '../../../support/world/world.ts';

const healing = { podGracePeriod: '20s', memberGracePeriod: '40s' };

async function born(replicas = 3): Promise<World> {
  return bornWith({ replicas, healing });
}

/** All vote, all hold what was acknowledged, and etcd takes writes. */
function assertSound(world: World, size: number, story: string): void {
  const [formation] = world.formations.values();
  const running = [...world.processes.values()];
  assert.equal(running.length, size, story);
  assert.equal(formation?.members.filter(({ isLearner }) => !isLearner).length, size, story);
  assert.deepEqual(
    running.filter(({ data }) => data.spoiled).map(({ pod }) => pod),
    [],
    story,
  );
  assert.equal(formation?.corrupt?.size ?? 0, 0, story);
  assert.deepEqual(world.state.violations, [], story);
}

const nameOfLeader = (world: World) => world.cluster()?.status?.leader ?? assert.fail();

/** Whose volume is evidence, by name. */
function evidence(world: World): readonly string[] {
  const kept = world.claims().filter(({ metadata }) => metadata.annotations?.[annotations.evidence] === 'true');
  assert.ok(kept.every(({ metadata }) => metadata.annotations?.[annotations.volumeState] === 'released'));
  return kept.map(({ metadata }) => metadata.name);
}

describe('etcd has raised CORRUPT', () => {
  const victims: Readonly<Record<string, (world: World) => string>> = {
    'a follower': (world) => ['orders-0', 'orders-1'].find((name) => name !== nameOfLeader(world)) ?? '',
    'the leader': nameOfLeader,
  };
  for (const [who, victimOf] of Object.entries(victims)) {
    test(`and ${who} differs from the others: it is replaced, its volume kept, and writes are let in`, async () => {
      const world = await born();
      const victim = victimOf(world);
      spoil(world, victim);
      raiseCorrupt(world);
      const end = await tickUntilConverged(world, { limit: 100 });
      const story = end.trail.join('\n');
      assert.equal(end.kind, 'done', story);
      assertSound(world, 3, story);
      assert.deepEqual(evidence(world), [victim], story);
      const order = ['ReplacingMember', 'RemovingCorruptMember', 'Corrupt', 'AddingLearner'];
      const at = order.map((reason) => end.trail.indexOf(`act ${reason} acted`));
      assert.deepEqual(
        at,
        at.toSorted((a, b) => a - b),
        story,
      );
      assert.ok(
        at.every((index) => index >= 0),
        story,
      );
    });

    test(`and ${who} differs from the others, and the invocation dies at any write`, async () => {
      const spoiled = await born();
      const victim = victimOf(spoiled);
      spoil(spoiled, victim);
      raiseCorrupt(spoiled);
      const life = await lifeOf(spoiled);
      assert.ok(life.writes > 10, `${life.writes} writes`);
      for (const crash of sample(life.places, 9)) {
        const { world } = await life.killedAt(crash);
        const end = await tickUntilConverged(world, { limit: 300 });
        const story = `${crash.when} ${crash.write}:\n${end.trail.join('\n')}`;
        assert.equal(end.kind, 'done', story);
        assertSound(world, 3, story);
        assert.deepEqual(evidence(world), [victim], story);
      }
    });
  }

  test('and two of five differ, each in its own way: both are replaced, a leader first', async () => {
    const world = await born(5);
    const leader = nameOfLeader(world);
    const other = ['orders-3', 'orders-4'].find((name) => name !== leader) ?? '';
    spoil(world, leader, 1);
    spoil(world, other, 2);
    raiseCorrupt(world, ['a1', '0']);
    const end = await tickUntilConverged(world, { limit: 200 });
    const story = end.trail.join('\n');
    assert.equal(end.kind, 'done', story);
    assertSound(world, 5, story);
    assert.deepEqual(evidence(world).toSorted(), [leader, other].toSorted(), story);
  });

  test('and all hold the same after all: the alarm is taken back, and no member is touched', async () => {
    const world = await born();
    raiseCorrupt(world, ['a1', '0']);
    const end = await tickUntilConverged(world);
    assert.equal(end.kind, 'done');
    assertSound(world, 3, end.trail.join('\n'));
    assert.equal(end.acts, 1);
  });

  test('and no majority agrees: no member is touched, and a person is told which ones differ', async () => {
    for (const size of [2, 3, 4, 5]) {
      const world = await born(size);
      for (let ordinal = 0; ordinal < size / 2; ordinal += 1)
        spoil(world, `orders-${ordinal}`, size % 2 ? ordinal + 1 : 1);
      raiseCorrupt(world);
      const end = await tickUntilConverged(world);
      assert.equal(end.reason, 'DataDiffer', end.trail.join('\n'));
      assert.equal(end.acts, 0);
      assert.match(world.cluster()?.status?.lastDecision?.message ?? '', /orders-0.* against .*orders-/);
    }
  });

  test('and the one that differs dies on top of it: it is replaced all the same', async () => {
    const world = await born();
    const victim = ['orders-0', 'orders-1'].find((name) => name !== nameOfLeader(world)) ?? '';
    spoil(world, victim);
    raiseCorrupt(world);
    world.loseNode(`${victim}-0`);
    const end = await tickUntilConverged(world, { limit: 300 });
    const story = end.trail.join('\n');
    assert.equal(end.kind, 'done', story);
    assertSound(world, 3, story);
  });
});

describe('a member finds at its start that its data differ', () => {
  test('and the others agree: it is replaced after its grace, and its volume kept', async () => {
    const world = await born();
    spoil(world, 'orders-1');
    world.kill('orders-1-0');
    const end = await tickUntilConverged(world, { limit: 300 });
    const story = end.trail.join('\n');
    assert.equal(end.kind, 'done', story);
    assertSound(world, 3, story);
    assert.deepEqual(evidence(world), ['orders-1'], story);
  });

  test("and one of the others is wrong: with three that can't be told, so no member is touched", async () => {
    const world = await born();
    spoil(world, 'orders-2');
    world.kill('orders-1-0');
    const end = await tickUntilConverged(world, { limit: 300 });
    assert.equal(end.reason, 'DataDiffer', end.trail.join('\n'));
    assert.equal(end.acts, 0, end.trail.join('\n'));
  });

  test('and another one is wrong: with five, that one is replaced, and the sound one returns', async () => {
    const world = await born(5);
    spoil(world, 'orders-2');
    world.kill('orders-1-0');
    const end = await tickUntilConverged(world, { limit: 300 });
    const story = end.trail.join('\n');
    assert.equal(end.kind, 'done', story);
    assertSound(world, 5, story);
    assert.deepEqual(evidence(world), ['orders-2'], story);
    assert.ok(
      [...world.processes.values()].some(({ pod }) => pod.endsWith('orders-1-0')),
      story,
    );
  });
});
