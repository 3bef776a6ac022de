import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { partOf } from '../../../run/part.ts';
import { bornWith } from '../../../support/world/born.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { type Crash, sample } from '../../../support/world/crash.ts';
import { type Life, lifeOf } from '../../../support/world/life.ts';
import { assertWhole } from '../../../support/world/whole.ts';
import type { World } from '../../../support/world/world.ts';

const healing = { podGracePeriod: '20s', memberGracePeriod: '40s' };

/** Leases run out by this world's clock, and so do fences. */
function byItsClock(t: TestContext): (world: World) => void {
  return (world) => {
    t.mock.restoreAll();
    t.mock.method(performance, 'now', () => world.now());
  };
}

async function lifeFrom(t: TestContext, from: number, to: number): Promise<Life> {
  const world = await bornWith({ replicas: from, healing });
  await world.apply({ replicas: to, healing });
  const life = await lifeOf(world, { enter: byItsClock(t) });
  assert.ok(life.writes > 5, `${life.writes} writes`);
  return life;
}

async function ended(world: World, text: string): Promise<void> {
  const end = await tickUntilConverged(world, { limit: 400 }).catch((cause: unknown) => {
    throw new Error(text, { cause });
  });
  assert.equal(end.kind, 'done', `${text}:\n${end.trail.join('\n')}`);
}

const text = ({ when, write }: Crash, what: string) => `frozen ${when} write ${write}, ${what}`;

/**
 * One invocation stands still at a call, to Kubernetes or to etcd, until its lease has run out; others go on, to the
 * same end or to another; and then the call arrives after all.
 */
describe('a call that arrives late', () => {
  for (const [from, to, stride] of [
    [1, 3, 3],
    [3, 1, 3],
  ] as const) {
    test(`while ${from} become ${to}, whatever else is asked: one cluster, of the last size`, async (t) => {
      const life = await lifeFrom(t, from, to);
      for (const [index, freeze] of sample(life.places, stride).entries()) {
        const last = [from, to][index % 2] ?? to;
        const what = `then ${last}`;
        const { world, frozen } = await life.frozenAt(freeze);
        assert.ok(frozen, `there is no ${text(freeze, what)}`);
        world.advance(31);
        await ended(world, text(freeze, what));
        await world.apply({ replicas: last, healing: { ...healing, podGracePeriod: '21s' } });
        await ended(world, text(freeze, what));
        await frozen.wake();
        await ended(world, text(freeze, `${what}, awake`));
        world.settle();
        assertWhole(world, last, text(freeze, what));
      }
    });
  }

  for (const [what, from, to, meanwhile, size] of [
    [
      'and would let the last member leave: it fails, because another removal was begun since',
      2,
      1,
      async (world: World) => {
        letClaimGo(world, 'orders-0');
        await ended(world, 'a claim is deleted');
      },
      undefined,
    ],
    [
      'and adds a learner: who is dead was removed meanwhile, and waited for nobody',
      3,
      4,
      async (world: World) => {
        world.loseNode('orders-0-0');
        await untilRemoved(world);
      },
      4,
    ],
  ] as const) {
    test(what, async (t) => {
      const life = await lifeFrom(t, from, to);
      for (const freeze of partOf(life.places.filter(({ when }) => when === 'before'))) {
        const { world, frozen } = await life.frozenAt(freeze);
        assert.ok(frozen, `there is no ${text(freeze, what)}`);
        world.advance(31);
        await meanwhile(world);
        await frozen.wake();
        await ended(world, text(freeze, 'awake'));
        if (size !== undefined) assertWhole(world, size, text(freeze, 'awake'));
      }
    });
  }
});

/** Ticks until a dead member is off the list. */
async function untilRemoved(world: World): Promise<void> {
  for (let ticks = 0; ticks < 100; ticks += 1) {
    world.settle();
    const result = await world.tick();
    if (result?.decision.reason === 'RemovingDeadMember' && result.outcome === 'acted') return;
    world.advance(5);
  }
  assert.fail('it was not removed');
}

/** Somebody deletes it: it stays until its pod is gone. */
function letClaimGo(world: World, name: string): void {
  const claim = world.claims().find(({ metadata }) => metadata.name === name);
  if (!claim) return;
  const deletionTimestamp = new Date(world.now()).toISOString();
  world.kube.seed(resources.volumeClaims, { ...claim, metadata: { ...claim.metadata, deletionTimestamp } });
}
