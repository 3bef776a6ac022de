import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import { assertOneCluster, tickUntilConverged } from '../../../support/world/converge.ts';
import { crashesIn, killer, sample, squares, tickUntilKilled } from '../../../support/world/crash.ts';
import { fillUp } from '../../../support/world/harm.ts';
import type { Space } from '../../../support/world/space-state.ts';
import { createWorld, type World } from '../../../support/world/world.ts';

const MiB = 2 ** 20;
const quota = 100 * MiB;

async function born(size = 3, more: Partial<EtcdClusterSpec> = {}): Promise<World> {
  const world = createWorld();
  await world.apply({ replicas: size, etcd: { quotaBackendBytes: '100Mi' }, ...more });
  const end = await tickUntilConverged(world);
  assert.equal(end.reason, 'Converged', end.trail.join('\n'));
  return world;
}

/** What was done, step by step. */
const stepsOf = (world: World) =>
  (world.cluster()?.status?.history ?? [])
    .filter(({ outcome }) => outcome === 'acted')
    .map(({ action, target }) => (target === undefined ? action : `${action} ${target}`));

const leaderOf = (world: World) => world.cluster()?.status?.leader;
const sizesIn = ({ files }: Space) => [...files.values()].map(({ size }) => size / MiB);

describe('etcd out of space', () => {
  test('is compacted, defragmented followers first, and takes writes again', async () => {
    const world = await born();
    const before = stepsOf(world).length;
    const leader = leaderOf(world);
    const space = fillUp(world, { quota, live: 10 * MiB, history: 90 * MiB });
    const end = await tickUntilConverged(world);
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    const steps = stepsOf(world).slice(before);
    assert.deepEqual(
      steps.map((step) => step.split(' ')[0]),
      ['compact', 'defragment-member', 'defragment-member', 'defragment-member', 'disarm-alarm'],
    );
    assert.equal(steps.at(-2), `defragment-member ${leader}`);
    assert.deepEqual(space.alarms, new Set());
    assertOneCluster(world, 3);
  });

  test('of one member as well', async () => {
    const world = await born(1);
    fillUp(world, { quota, live: 10 * MiB, history: 90 * MiB });
    assert.equal((await tickUntilConverged(world)).reason, 'Converged');
  });

  test('and no member counts what the compaction freed: one is tried, and tells it for all', async () => {
    const world = await born();
    const space = fillUp(world, { quota, live: 10 * MiB, history: 90 * MiB });
    space.uncounted = true;
    const end = await tickUntilConverged(world);
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.equal(space.asked.length, 3, end.trail.join('\n'));
    assert.ok(Math.max(...sizesIn(space)) < 11);
  });

  test('and free pages enough: no history is lost', async () => {
    const world = await born();
    const space = fillUp(world, { quota, live: 10 * MiB, history: 30 * MiB, free: 60 * MiB });
    assert.equal((await tickUntilConverged(world)).reason, 'Converged');
    assert.equal(space.history, 30 * MiB);
  });

  test('whatever write an invocation dies at, room is made, each member once or once more', async () => {
    const counted = killer();
    const first = await born();
    fillUp(first, { quota, live: 10 * MiB, history: 90 * MiB });
    await tickUntilConverged(first, { faults: counted });
    assert.ok(counted.writes() > 20, `${counted.writes()} writes`);
    for (const crash of squares(crashesIn(counted.writes()), 'black')) {
      const world = await born();
      const space = fillUp(world, { quota, live: 10 * MiB, history: 90 * MiB });
      await tickUntilKilled(world, crash);
      const end = await tickUntilConverged(world);
      assert.equal(end.reason, 'Converged', `${crash.when} ${crash.write}\n${end.trail.join('\n')}`);
      assert.deepEqual(space.alarms, new Set());
      assert.ok(Math.max(...sizesIn(space)) < 11, sizesIn(space).join());
      assert.ok(space.asked.length <= 4, space.asked.join());
      assertOneCluster(world, 3, `${crash.when} ${crash.write}`);
    }
  });

  test('while a member is down waits for it', async () => {
    const world = await born();
    const space = fillUp(world, { quota, live: 10 * MiB, history: 90 * MiB });
    world.dieWhen(({ metadata }) => metadata.name === 'orders-1-0');
    world.kill('orders-1-0');
    for (let tick = 0; tick < 5; tick += 1) {
      world.settle();
      await world.tick();
      world.advance(2);
    }
    assert.deepEqual(space.asked, []);
    world.dieWhen(() => false);
    const end = await tickUntilConverged(world);
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
  });
});

describe('a member that takes longer than any wait', () => {
  test('is waited for, neither asked again nor taken for dead, and the next one comes after it', async () => {
    for (const slow of [0, 1, 2]) {
      const world = await born();
      const space = fillUp(world, { quota, live: 10 * MiB, history: 90 * MiB });
      space.slow.add([...space.files.keys()][slow] ?? '');
      const end = await tickUntilConverged(world);
      assert.equal(end.reason, 'Converged', end.trail.join('\n'));
      assert.equal(space.asked.length, 3, end.trail.join('\n'));
      assertOneCluster(world, 3);
    }
  });

  test('is waited for also where it is the only one', async () => {
    const world = await born(1);
    const space = fillUp(world, { quota, live: 10 * MiB, history: 90 * MiB });
    space.slow.add([...space.files.keys()][0] ?? '');
    const end = await tickUntilConverged(world);
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.equal(space.asked.length, 1);
  });
});

describe('a member whose disk has no room for a second file', () => {
  test('is asked twice, a person is told, and it is asked again when that was a while ago', async () => {
    const world = await born();
    const space = fillUp(world, { quota, live: 10 * MiB, history: 90 * MiB });
    const cramped = [...space.files.keys()][1] ?? '';
    space.cramped.add(cramped);
    const end = await tickUntilConverged(world, { limit: 200 });
    assert.equal(end.kind, 'refuse', end.trail.join('\n'));
    assert.match(end.message, /was defragmented and has not become smaller/);
    assert.equal(space.asked.filter((id) => id === cramped).length, 2);
    space.cramped.clear();
    world.advance(600);
    const cured = await tickUntilConverged(world);
    assert.equal(cured.reason, 'Converged', cured.trail.join('\n'));
  });
});

describe('data that fill the quota', () => {
  const live = 99 * MiB;

  test('are refused with a cure, and nothing goes round in circles; a larger quota cures it', async () => {
    const world = await born();
    const space = fillUp(world, { quota, live, history: 2 * MiB });
    const end = await tickUntilConverged(world);
    assert.deepEqual([end.kind, end.reason], ['refuse', 'NoSpace'], end.trail.join('\n'));
    const asked = space.asked.length;
    const writes = world.kube.journal().length;
    for (let tick = 0; tick < 10; tick += 1) {
      world.settle();
      await world.tick();
      world.advance(600);
    }
    assert.equal(space.asked.length, asked);
    const written = world.kube.journal().slice(writes);
    assert.deepEqual(
      written.filter(({ verb }) => verb !== 'LIST' && verb !== 'GET'),
      [],
    );

    space.quota = 200 * MiB;
    await world.apply({ etcd: { quotaBackendBytes: '200Mi' } });
    const cured = await tickUntilConverged(world);
    assert.equal(cured.reason, 'Converged', cured.trail.join('\n'));
    assert.deepEqual(space.alarms, new Set());
    assertOneCluster(world, 3);
  });

  test('are cured by deleting keys, without another word', async () => {
    const world = await born();
    const space = fillUp(world, { quota, live, history: 2 * MiB });
    await tickUntilConverged(world);
    Object.assign(space, { live: 5 * MiB, history: 94 * MiB });
    world.advance(120);
    const end = await tickUntilConverged(world);
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.ok(Math.max(...sizesIn(space)) < 6);
  });

  test('are cured by a larger volume where the quota follows it', async () => {
    const world = createWorld();
    await world.apply();
    await tickUntilConverged(world);
    const space = fillUp(world, { quota: 256 * MiB, live: 255 * MiB, free: MiB });
    const end = await tickUntilConverged(world);
    assert.equal(end.reason, 'NoSpace', end.trail.join('\n'));
    space.quota = 768 * MiB;
    await world.apply({ storage: { size: '2Gi' } });
    const cured = await tickUntilConverged(world);
    assert.equal(cured.reason, 'Converged', cured.trail.join('\n'));
    assertOneCluster(world, 3);
  });

  test('and an invocation dies at any write while a larger volume cures it', async () => {
    const counted = killer();
    await tickUntilConverged(await grown(), { faults: counted });
    for (const crash of sample(crashesIn(counted.writes()), 3)) {
      const world = await grown();
      await tickUntilKilled(world, crash);
      const end = await tickUntilConverged(world);
      assert.equal(end.reason, 'Converged', `${crash.write}\n${end.trail.join('\n')}`);
      assertOneCluster(world, 3);
    }

    async function grown(): Promise<World> {
      const world = createWorld();
      await world.apply();
      await tickUntilConverged(world);
      fillUp(world, { quota: 768 * MiB, live: 255 * MiB }).alarms.add(
        [...world.formations][0]?.[1].members[0]?.id ?? '',
      );
      await world.apply({ storage: { size: '2Gi' } });
      return world;
    }
  });
});

describe('files that have grown far beyond what is in them', () => {
  test('are given back last of all, the leader last, whatever write an invocation dies at', async () => {
    const counted = killer();
    const first = await grown();
    const leader = leaderOf(first.world);
    await tickUntilConverged(first.world, { faults: counted });
    assert.equal(stepsOf(first.world).at(-1), `defragment-member ${leader}`);
    assert.equal(first.space.asked.length, 3);
    for (const crash of crashesIn(counted.writes())) {
      const { world, space } = await grown();
      await tickUntilKilled(world, crash);
      const end = await tickUntilConverged(world);
      assert.equal(end.reason, 'Converged', `${crash.when} ${crash.write}\n${end.trail.join('\n')}`);
      assert.ok(space.asked.length <= 3, 'nobody twice');
      // Who was to be asked when somebody died is asked an hour later.
      world.advance(3601);
      await tickUntilConverged(world);
      assert.ok(Math.max(...sizesIn(space)) < 11, sizesIn(space).join());
      assertOneCluster(world, 3);
    }

    async function grown() {
      const world = await born(3, { defragmentation: { minReclaim: '16Mi' } });
      const space = fillUp(world, { quota, live: 10 * MiB, free: 40 * MiB });
      return { world, space };
    }
  });
});
