import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApprovalAsked } from '../../../../manifests/api/approval.ts';
import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import type { PersistentVolumeClaim, Pod } from '../../../../manifests/kube-types.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { bornWith } from '../../../support/world/born.ts';
import { type Converged, tickUntilConverged } from '../../../support/world/converge.ts';
import { sample } from '../../../support/world/crash.ts';
import { raiseCorrupt, spoil } from '../../../support/world/harm.ts';
import { lifeOf } from '../../../support/world/life.ts';
import { assertWhole } from '../../../support/world/whole.ts';
import type { World } from '../../../support/world/world.ts';

const graces = { podGracePeriod: '20s', memberGracePeriod: '40s' };
const healing = { ...graces, mode: 'Manual' } as const;

const born = (replicas = 3) => bornWith({ replicas, healing });

const faults: Readonly<Record<string, (world: World) => void>> = {
  'its disk came back empty': (world) => world.wipe('orders-1'),
  'its volume was deleted': (world) => world.loseVolume('orders-1'),
  'its node is dead': (world) => world.loseNode('orders-1-0'),
};

/** The names of those on etcd's list. */
function listed(world: World): readonly string[] {
  return [...world.formations.values()]
    .flatMap(({ members, published }) => members.map(({ id }) => published.get(id) ?? id))
    .toSorted();
}

const atFirst = ['orders-0', 'orders-1', 'orders-2'];

async function annotate(world: World, given: Readonly<Record<string, string>>): Promise<void> {
  const cluster = world.cluster() ?? assert.fail();
  await world.kube.update<EtcdCluster>(resources.clusters, {
    ...cluster,
    metadata: { ...cluster.metadata, annotations: given },
  });
}

/** Ticks until a person is asked about that member, with all of it that a person reads; nothing has begun. */
async function held(world: World, victim = 'orders-1'): Promise<ApprovalAsked> {
  const before = listed(world);
  const end = await tickUntilConverged(world, { limit: 300 });
  const story = end.trail.join('\n');
  assert.deepEqual([end.kind, end.reason], ['refuse', 'HealingHeld'], story);
  assert.deepEqual(listed(world), before, story);
  assert.doesNotMatch(story, /ReplacingMember|Removing/);
  const [asked, ...more] = world.cluster()?.status?.approvals ?? [];
  assert.deepEqual([asked?.annotation, asked?.reason, more], [annotations.replaceMember, 'HealingHeld', []]);
  assert.match(asked?.approves ?? '', new RegExp(`^${victim} \\([0-9a-f]+\\) is removed`));
  const stalled = world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled');
  assert.match(stalled?.message ?? '', /spec\.healing\.mode is Manual/);
  assert.ok(stalled?.message.endsWith(`${asked?.annotation}=${asked?.value}`), stalled?.message);
  return asked ?? assert.fail();
}

async function firstAsked(world: World): Promise<ApprovalAsked> {
  for (let ticks = 0; ticks < 30; ticks += 1) {
    await world.tick();
    const [asked] = world.cluster()?.status?.approvals ?? [];
    if (asked) return asked;
    world.advance(3);
  }
  return assert.fail('nothing was asked');
}

async function approve(world: World, { annotation, value }: ApprovalAsked): Promise<void> {
  await annotate(world, { [annotation]: value });
}

async function healed(world: World, members: number | readonly string[]): Promise<Converged> {
  const end = await tickUntilConverged(world, { limit: 400 });
  const story = end.trail.join('\n');
  assert.deepEqual([end.kind, end.reason], ['done', 'Converged'], story);
  assertWhole(world, members, story);
  assert.equal(world.cluster()?.status?.approvals, undefined, 'what was approved is asked no more');
  return end;
}

describe('healing by hand: a member is given up only once a person has approved it, when', () => {
  for (const [what, strike] of Object.entries(faults)) {
    test(what, async () => {
      const world = await born();
      strike(world);
      const asked = await held(world);
      world.advance(3600);
      assert.deepEqual(await held(world), asked, 'the same is asked for as long as it is down');
      await approve(world, asked);
      const { trail } = await healed(world, ['orders-0', 'orders-2', 'orders-3']);
      assert.ok(trail.indexOf('act RemovingDeadMember acted') > trail.indexOf('act ReplacingMember acted'));
    });

    test(`${what}: an invocation dies at any write, and the approval is taken back`, async () => {
      const world = await born();
      strike(world);
      await approve(world, await held(world));
      const life = await lifeOf(world);
      assert.ok(life.writes > 10, `${life.writes} writes`);
      const ends = new Set<string>();
      for (const crash of sample(life.places, 3)) {
        const { world: after } = await life.killedAt(crash);
        await annotate(after, {});
        const isListed = listed(after).includes('orders-1');
        const end = await tickUntilConverged(after, { limit: 400 });
        const story = `${crash.when} ${crash.write}, ${isListed ? 'listed' : 'removed'}:\n${end.trail.join('\n')}`;
        ends.add(`${isListed} ${end.reason}`);
        if (end.reason === 'HealingHeld') {
          assert.ok(isListed && listed(after).includes('orders-1'), story);
          await approve(after, after.cluster()?.status?.approvals?.[0] ?? assert.fail(story));
        }
        await healed(after, 3);
      }
      // Once it is off the list, no approval is asked for.
      assert.ok(ends.has('true HealingHeld') && ends.has('false Converged'), [...ends].join());
      assert.ok(!ends.has('false HealingHeld'));
    });
  }

  test('its data differ from those of the majority: at once, and its volume is kept', async () => {
    const world = await born();
    const leader = world.cluster()?.status?.leader ?? assert.fail();
    spoil(world, leader);
    raiseCorrupt(world);
    // Status knows since when only from the first of these looks on: what that asks must hold afterwards.
    const first = await firstAsked(world);
    const asked = await held(world, leader);
    assert.deepEqual(asked, first);
    assert.match(asked.loses, /is kept/);
    await approve(world, asked);
    await healed(world, 3);
    const kept = world.claims().find(({ metadata }) => metadata.name === leader);
    assert.equal(kept?.metadata.annotations?.[annotations.evidence], 'true');
  });

  test('the windows of the spec are shut: once approved, it does not wait', async () => {
    const world = await born();
    await world.apply({ replicas: 3, healing, maintenance: { windows: [] } });
    await tickUntilConverged(world);
    world.loseNode('orders-1-0');
    await approve(world, await held(world));
    await healed(world, 3);
  });
});

describe('healing by hand: an approval counts for one member, and one failure of it', () => {
  test('it does not fit the next member that fails', async () => {
    const world = await born();
    world.loseNode('orders-1-0');
    const first = await held(world);
    await approve(world, first);
    await healed(world, 3);
    world.loseVolume('orders-2');
    const second = await held(world, 'orders-2');
    assert.notEqual(second.value, first.value);
    assert.equal(world.cluster()?.metadata.annotations?.[first.annotation], first.value, 'it is there still');
  });

  test('it does not fit the same member when that was well in between', async () => {
    const world = await born();
    world.loseNode('orders-1-0');
    const first = await held(world);
    const pod = world.kube.stored<Pod>(resources.pods).find(({ metadata }) => metadata.name === 'orders-1-0');
    world.state.deadNodes.delete(pod?.spec.nodeName ?? '');
    world.kube.remove(resources.pods, 'shop', 'orders-1-0');
    const { acts } = await healed(world, atFirst);
    assert.equal(acts, 0, 'it came back by itself');
    // Given too late: nothing is left to approve.
    await approve(world, first);
    assert.equal((await healed(world, atFirst)).acts, 0);
    world.loseNode('orders-1-0');
    const second = await held(world);
    assert.notEqual(second.value, first.value);
    await approve(world, second);
    await healed(world, ['orders-0', 'orders-2', 'orders-3']);
  });

  test('the status is lost: it is asked for anew', async () => {
    const world = await born();
    world.loseNode('orders-1-0');
    const first = await held(world);
    world.dropStatus();
    world.advance(1);
    await approve(world, first);
    const second = await held(world);
    assert.notEqual(second.value, first.value);
  });

  test('of two that failed, the approved one goes, and the other one stays', async () => {
    const world = await born(5);
    world.loseNode('orders-3-0');
    await approve(world, await held(world, 'orders-3'));
    world.loseNode('orders-1-0');
    world.advance(60);
    await world.tick();
    world.advance(60);
    const end = await tickUntilConverged(world, { limit: 400 });
    assert.deepEqual([end.kind, end.reason], ['refuse', 'HealingHeld'], end.trail.join('\n'));
    assert.ok(listed(world).includes('orders-1') && !listed(world).includes('orders-3'), listed(world).join());
  });
});

describe('healing by hand: the mode may change at any time', () => {
  /** The replacement is recorded, and nothing was removed yet. */
  async function recorded(world: World): Promise<void> {
    for (let ticks = 0; ticks < 100; ticks += 1) {
      world.settle();
      if ((await world.tick())?.decision.reason === 'ReplacingMember') return;
      world.advance(2);
    }
    assert.fail('no replacement was recorded');
  }

  test('to Manual after the replacement was recorded: the removal is held', async () => {
    const world = await bornWith({ replicas: 3, healing: graces });
    world.loseNode('orders-1-0');
    await recorded(world);
    await world.apply({ replicas: 3, healing });
    await approve(world, await held(world));
    await healed(world, ['orders-0', 'orders-2', 'orders-3']);
  });

  test('to Manual after the replacement was recorded, and the member comes back: it stays', async () => {
    const world = await bornWith({ replicas: 3, healing: graces });
    world.loseNode('orders-1-0');
    await recorded(world);
    await world.apply({ replicas: 3, healing });
    await held(world);
    const pod = world.kube.stored<Pod>(resources.pods).find(({ metadata }) => metadata.name === 'orders-1-0');
    world.state.deadNodes.delete(pod?.spec.nodeName ?? '');
    world.kube.remove(resources.pods, 'shop', 'orders-1-0');
    await healed(world, atFirst);
  });

  test('to Automatic while it is held: it is healed without an approval', async () => {
    const world = await born();
    world.loseNode('orders-1-0');
    await held(world);
    await world.apply({ replicas: 3, healing: graces });
    await healed(world, ['orders-0', 'orders-2', 'orders-3']);
  });
});

describe('healing by hand: without an approval', () => {
  test('a container that ended, and a pod that hangs, are started anew', async () => {
    const world = await born();
    world.kill('orders-1-0');
    assert.equal((await healed(world, atFirst)).acts, 0);
  });

  test('a serving member whose PVC a person deleted is outlived', async () => {
    const world = await born();
    const claim = world.claims().find(({ metadata }) => metadata.name === 'orders-1') ?? assert.fail();
    const deletionTimestamp = new Date(world.now()).toISOString();
    world.kube.seed<PersistentVolumeClaim>(resources.volumeClaims, {
      ...claim,
      metadata: { ...claim.metadata, deletionTimestamp },
    });
    const { trail } = await healed(world, 3);
    assert.ok(trail.indexOf('act SealingMembers acted') < trail.indexOf('act RemovingMember acted'), trail.join('\n'));
  });

  test('a cluster grows and shrinks', async () => {
    const world = await born();
    for (const replicas of [5, 3]) {
      await world.apply({ replicas, healing });
      await healed(world, replicas);
    }
  });

  test('a lost quorum asks for its own approval, and grows back with that alone', async () => {
    const world = await born();
    world.loseVolume('orders-1');
    world.loseVolume('orders-2');
    world.advance(60);
    let end = await tickUntilConverged(world, { limit: 300 });
    world.advance(60);
    end = await tickUntilConverged(world, { limit: 300 });
    assert.equal(end.reason, 'QuorumLost', end.trail.join('\n'));
    const [asked] = world.cluster()?.status?.approvals ?? [];
    assert.equal(asked?.annotation, annotations.recoverQuorum);
    await approve(world, asked ?? assert.fail());
    await healed(world, ['orders-0', 'orders-3', 'orders-4']);
  });

  test('a plan says what it would ask, and plans no step past it', async () => {
    const world = await born();
    world.loseNode('orders-1-0');
    await held(world);
    const { planned } = await world.plan({ replicas: 3, healing });
    assert.deepEqual(planned?.steps, []);
    assert.deepEqual([planned?.end.kind, planned?.end.reason], ['refused', 'HealingHeld']);
    const automatic = await world.plan({ replicas: 3, healing: graces });
    assert.equal(automatic.planned?.steps[0]?.reason, 'ReplacingMember');
  });
});
