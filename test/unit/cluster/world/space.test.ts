import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { timestamp } from '../../../../reconcile/time/timestamp.ts';
import { partOf } from '../../../run/part.ts';
import { bornWith } from '../../../support/world/born.ts';
import { assertOneCluster, tickUntilConverged } from '../../../support/world/converge.ts';
import { sample, squares } from '../../../support/world/crash.ts';
import { fillUp } from '../../../support/world/harm.ts';
import { lifeOf } from '../../../support/world/life.ts';
import type { Space } from '../../../support/world/space-state.ts';
import { createWorld, type World } from '../../../support/world/world.ts';

const MiB = 2 ** 20;
const quota = 100 * MiB;

async function born(size = 3, more: Partial<EtcdClusterSpec> = {}): Promise<World> {
  return bornWith({ replicas: size, etcd: { quotaBackendBytes: '100Mi' }, ...more });
}

/** Of the only cluster there. */
function spaceOf(world: World): Space {
  const [formation] = world.formations.values();
  return formation?.space ?? assert.fail('nothing was filled');
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
    const first = await born();
    fillUp(first, { quota, live: 10 * MiB, history: 90 * MiB });
    const life = await lifeOf(first);
    assert.ok(life.writes > 20, `${life.writes} writes`);
    for (const crash of squares(life.places, 'black')) {
      const { world } = await life.killedAt(crash);
      const space = spaceOf(world);
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
    const life = await lifeOf(await grown());
    assert.ok(life.writes > 10, `${life.writes} writes`);
    for (const crash of sample(life.places, 3)) {
      const { world } = await life.killedAt(crash);
      const end = await tickUntilConverged(world);
      assert.equal(end.reason, 'Converged', `${crash.write}\n${end.trail.join('\n')}`);
      assertOneCluster(world, 3);
    }

    async function grown(): Promise<World> {
      const world = await bornWith({});
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
    const first = await grown();
    const leader = leaderOf(first);
    const life = await lifeOf(first);
    assert.equal(stepsOf(first).at(-1), `defragment-member ${leader}`);
    assert.equal(spaceOf(first).asked.length, 3);
    for (const crash of partOf(life.places)) {
      const { world } = await life.killedAt(crash);
      const space = spaceOf(world);
      const end = await tickUntilConverged(world);
      assert.equal(end.reason, 'Converged', `${crash.when} ${crash.write}\n${end.trail.join('\n')}`);
      assert.ok(space.asked.length <= 3, 'nobody twice');
      // A member that should have been asked when an invocation died is asked an hour later.
      world.advance(3601);
      await tickUntilConverged(world);
      assert.ok(Math.max(...sizesIn(space)) < 11, sizesIn(space).join());
      assertOneCluster(world, 3);
    }

    async function grown() {
      const world = await born(3, { defragmentation: { minReclaim: '16Mi' } });
      fillUp(world, { quota, live: 10 * MiB, free: 40 * MiB });
      return world;
    }
  });
});

describe('a person who asks for a defragmentation', () => {
  test('gets each member once, the leader last, whatever write an invocation dies at', async () => {
    const first = await asking();
    const leader = leaderOf(first);
    const life = await lifeOf(first);
    assert.deepEqual([stepsOf(first).at(-1), spaceOf(first).asked.length], [`defragment-member ${leader}`, 3]);
    const told = first.cluster()?.status?.members ?? [];
    assert.ok(told.length === 3 && told.every(({ defragmentedAt }) => defragmentedAt !== undefined));
    for (const crash of partOf(life.places)) {
      const { world } = await life.killedAt(crash);
      const end = await tickUntilConverged(world);
      assert.equal(end.reason, 'Converged', `${crash.when} ${crash.write}\n${end.trail.join('\n')}`);
      const { asked } = spaceOf(world);
      assert.ok(new Set(asked).size === asked.length && asked.length >= 2, asked.join());
      assertOneCluster(world, 3);
    }

    async function asking() {
      const world = await born(3, { defragmentation: { mode: 'Disabled' } });
      fillUp(world, { quota, live: 10 * MiB, free: 5 * MiB });
      await ask(world);
      return world;
    }
  });

  test('and asks again gets each member once more', async () => {
    const world = await born(3, { defragmentation: { mode: 'Disabled' } });
    const space = fillUp(world, { quota, live: 10 * MiB, free: 5 * MiB });
    await ask(world);
    await tickUntilConverged(world);
    world.advance(60);
    for (const file of space.files.values()) file.size += 5 * MiB;
    await ask(world);
    await tickUntilConverged(world);
    assert.deepEqual([space.asked.length, new Set(space.asked).size], [6, 3]);
    world.advance(7200);
    assert.equal((await tickUntilConverged(world)).reason, 'Converged');
    assert.equal(space.asked.length, 6, 'an old request is over');
  });

  async function ask(world: World) {
    const found = world.cluster() ?? assert.fail('there is no cluster');
    const noted = { ...found.metadata.annotations, [annotations.defragment]: timestamp(new Date(world.now())) };
    await world.kube.update(resources.clusters, { ...found, metadata: { ...found.metadata, annotations: noted } });
  }
});
