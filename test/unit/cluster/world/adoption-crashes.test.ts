import assert from 'node:assert/strict';
import { before, describe, type TestContext, test } from 'node:test';
import { partOf } from '../../../run/part.ts';
import {
  approveLeaving,
  assertTakenOver,
  besideOthers,
  forgetExisting,
  oursOnTheList,
} from '../../../support/world/adoption.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { type Crash, squares, text } from '../../../support/world/crash.ts';
import { ending } from '../../../support/world/ending.ts';
import type { Frozen } from '../../../support/world/freeze.ts';
import { type Life, lifeOf } from '../../../support/world/life.ts';
import { namesOnTheirList, theyServe } from '../../../support/world/others.ts';
import type { World } from '../../../support/world/world.ts';

const old = ['legacy-a', 'legacy-b', 'legacy-c'];

/** From the first record to the last old member that leaves: the approval is given from the beginning. */
const stories = [
  ['three members by three', old, 3],
  ['one member by three', old.slice(0, 1), 3],
  ['three members by one', old, 1],
] as const;

for (const [what, pods, replicas] of stories) {
  describe(`an invocation that dies at any write of a takeover of ${what}`, () => {
    let life: Life;

    before(async () => {
      const world = await besideOthers(pods, replicas);
      await approveLeaving(world);
      life = await lifeOf(world);
      assert.ok(life.writes > 20, `${life.writes} writes`);
    });

    test('leaves a takeover that the next ones finish, in one cluster and without loss', async () => {
      await eachKilled(life, life.places, async (world, crash) => {
        assert.equal(await ending(world, crash), 'done Converged');
        assertTakenOver(world, replicas, text(crash));
      });
    });

    test('and then the status is dropped, as a backup tool does: the takeover is finished', async () => {
      await eachKilled(life, squares(life.places, 'black'), async (world, crash) => {
        world.dropStatus();
        assert.equal(await ending(world, crash), 'done Converged');
        assertTakenOver(world, replicas, text(crash));
      });
    });

    test('and then the approval is taken back: no further member leaves until it is given again', async () => {
      await eachKilled(life, squares(life.places, 'white'), async (world, crash) => {
        await approveLeaving(world, false);
        const stayed = namesOnTheirList(world).filter((name) => pods.includes(name));
        const end = await ending(world, crash);
        assert.equal(end, stayed.length === 0 ? 'done Converged' : 'refuse AdoptionNotApproved', text(crash));
        assert.deepEqual(
          namesOnTheirList(world).filter((name) => pods.includes(name)),
          stayed,
          text(crash),
        );
        await approveLeaving(world);
        assert.equal(await ending(world, crash), 'done Converged');
        assertTakenOver(world, replicas, text(crash));
      });
    });

    test('and then a commit removes what the spec says of the old ones: it is finished all the same', async () => {
      await eachKilled(life, squares(life.places, 'white'), async (world, crash) => {
        const isKept = world.cluster()?.status?.existing !== undefined;
        const beside = oursOnTheList(world).length > 0 && namesOnTheirList(world).some((name) => pods.includes(name));
        assert.ok(isKept || !beside, text(crash));
        // Before anything of ours joins, it is a wish for a cluster of its own.
        if (!isKept && oursOnTheList(world).length === 0) return;
        await forgetExisting(world);
        assert.equal(await ending(world, crash), 'done Converged');
        assertTakenOver(world, replicas, text(crash));
        assert.equal(world.cluster()?.status?.existing, undefined, text(crash));
      });
    });

    test('and then the EtcdCluster is deleted: the old members that are left go on alone', async () => {
      await eachKilled(life, squares(life.places, 'white'), async (world, crash) => {
        const stayed = namesOnTheirList(world).filter((name) => pods.includes(name));
        // With none of them left, a deletion is that of a cluster of ours.
        if (stayed.length === 0) return;
        await world.remove();
        assert.equal((await tickUntilConverged(world)).kind, 'gone', text(crash));
        assert.deepEqual(namesOnTheirList(world), stayed, text(crash));
        assert.ok(theyServe(world), text(crash));
        assert.deepEqual(world.violations, [], text(crash));
      });
    });
  });
}

describe('an invocation that dies at any write of a deletion in the middle of a takeover', () => {
  for (const [what, pods, replicas] of [...stories, ['one member by one', old.slice(0, 1), 1] as const]) {
    test(`of ${what}: ours leave, the old ones serve on, and the EtcdCluster goes`, async () => {
      const world = await besideOthers(pods, replicas);
      assert.equal((await tickUntilConverged(world)).reason, 'AdoptionNotApproved');
      await world.remove();
      const life = await lifeOf(world);
      await eachKilled(life, life.places, async (killed, crash) => {
        assert.equal((await tickUntilConverged(killed)).kind, 'gone', text(crash));
        assert.deepEqual(namesOnTheirList(killed), pods.toSorted(), text(crash));
        assert.ok(theyServe(killed), text(crash));
        assert.deepEqual(killed.violations, [], text(crash));
      });
    });
  }
});

describe('an invocation that is frozen at any write of a takeover, and wakes late', () => {
  test('after others have finished: the cluster is as they left it', async (t) => {
    const life = await frozenLife(t, 3);
    await eachFrozen(life, squares(life.places, 'black'), async (world, frozen, freeze) => {
      world.advance(31);
      assert.equal(await ending(world, freeze), 'done Converged');
      await frozen.wake();
      assert.equal(await ending(world, freeze), 'done Converged');
      assertTakenOver(world, 3, text(freeze));
    });
  });

  test('in the middle of what others do: nothing acknowledged is lost, and it is one cluster', async (t) => {
    const life = await frozenLife(t, 1);
    await eachFrozen(life, life.places, async (world, frozen, freeze) => {
      world.advance(31);
      for (let step = 0; step < 1 + (freeze.write % 3); step += 1) {
        world.settle();
        await world.tick();
        world.advance(2);
      }
      await frozen.wake();
      assert.equal(await ending(world, freeze), 'done Converged');
      assertTakenOver(world, 1, text(freeze));
    });
  });

  test('after the EtcdCluster is gone: no member of ours comes back to the old ones', async (t) => {
    const life = await frozenLife(t, 3);
    await eachFrozen(life, life.places, async (world, frozen, freeze) => {
      const stayed = namesOnTheirList(world).filter((name) => old.includes(name));
      if (stayed.length === 0) return;
      world.advance(31);
      await world.remove();
      assert.equal((await tickUntilConverged(world)).kind, 'gone', text(freeze));
      await frozen.wake();
      world.settle();
      assert.deepEqual(oursOnTheList(world), [], text(freeze));
      assert.ok(theyServe(world), text(freeze));
      assert.deepEqual(world.violations, [], text(freeze));
    });
  });
});

async function frozenLife(t: TestContext, replicas: number): Promise<Life> {
  const world = await besideOthers(old, replicas);
  await approveLeaving(world);
  byItsClock(t, world);
  return lifeOf(world, { enter: (its) => byItsClock(t, its) });
}

/** Leases run out by this world's clock, and so do fences. */
function byItsClock(t: TestContext, world: World): void {
  t.mock.restoreAll();
  t.mock.method(performance, 'now', () => world.now());
}

/** What etcd or the API server refuses has a beginning and no answer: after so many writes no invocation can die. */
const unanswered = 3;

async function eachKilled(
  life: Life,
  places: readonly Crash[],
  tell: (world: World, crash: Crash) => Promise<void>,
): Promise<void> {
  const some = partOf(places);
  let told = 0;
  for (const crash of some) {
    const { world, struck } = await life.killedAt(crash);
    if (!struck) continue;
    told += 1;
    await tell(world, crash);
  }
  assert.ok(told >= some.length - unanswered, `${told} of ${some.length} places`);
}

async function eachFrozen(
  life: Life,
  places: readonly Crash[],
  tell: (world: World, frozen: Frozen, freeze: Crash) => Promise<void>,
): Promise<void> {
  const some = partOf(places);
  let told = 0;
  for (const freeze of some) {
    const { world, frozen } = await life.frozenAt(freeze);
    if (!frozen) continue;
    told += 1;
    await tell(world, frozen, freeze);
  }
  assert.ok(told >= some.length - unanswered, `${told} of ${some.length} places`);
}
