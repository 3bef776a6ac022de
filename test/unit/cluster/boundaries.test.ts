import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heal } from '../../../reconcile/cluster/decide/rules/membership/heal.ts';
import { join } from '../../../reconcile/cluster/decide/rules/membership/join.ts';
import { letRemovedGo } from '../../../reconcile/cluster/decide/rules/membership/let-removed-go.ts';
import { freeSpace } from '../../../reconcile/cluster/decide/rules/space/free-space.ts';
import { outliveVolume } from '../../../reconcile/cluster/decide/rules/volumes/outlive-volume.ts';
import type { Slot } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import {
  all,
  crashing,
  type Differences,
  endpoint,
  healthy,
  members,
  prepared,
  recordFor,
  silent,
  withEndpoint,
  without,
  withPod,
  withRecord,
  withVolume,
} from './observations.ts';

/**
 * Rules by themselves, at the edge of what they allow: in `decide`, an earlier rule may hide that one of them does not
 * hold.
 */

const at = Date.parse('2026-01-02T03:04:05Z');
const lost = all(without('volume', 'pod'), withEndpoint(silent));
const learner = withEndpoint(endpoint(3, { isLearner: true }));

function situated(size: number, differences: Differences) {
  return situate(healthy(size, differences));
}

/** So many on the list; the one with this ordinal is a learner. */
function withLearner(size: number, ordinal: number) {
  const list = members(size);
  return { ...list, members: list.members.map((one, index) => ({ ...one, isLearner: index === ordinal })) };
}

function ill(ordinal: number, seconds: number): Pick<Differences, 'status'> {
  const unhealthySince = new Date(at - seconds * 1000).toISOString();
  return {
    status: { observedGeneration: 3, members: [{ name: `orders-${ordinal}`, healthy: false, unhealthySince }] },
  };
}

function slot(ordinal: number): Slot {
  return healthy(ordinal + 1).slots[ordinal] ?? assert.fail();
}

describe('heal', () => {
  const dead = { slots: { 1: lost }, ...ill(1, 6000) };

  test('records no further member while a learner is on the list: the dead one goes first', () => {
    const alone = heal(situated(3, dead));
    assert.equal(alone?.reason, 'ReplacingMember');
    const beside = heal(situated(3, { ...dead, membership: withLearner(4, 3), more: [learner(slot(3))] }));
    assert.equal(beside?.reason, 'RemovingDeadMember');
  });

  test('records no further member while a learner of which nothing is left is on the list', () => {
    assert.equal(heal(situated(3, { ...dead, membership: withLearner(4, 3) }))?.reason, 'RemovingDeadMember');
  });
});

describe('join', () => {
  /** Recorded, and not on the list yet. */
  function asked(ordinal: number): Slot {
    const { memberId: _, ...record } = { ...recordFor(ordinal, ordinal + 1), state: 'joining' as const };
    const found = prepared(ordinal + 1).slots[ordinal] ?? assert.fail();
    return all(withRecord(record), withEndpoint(silent))(found);
  }

  test('adds a learner where there is none', () => {
    const decision = join(situated(3, { spec: { replicas: 5 }, more: [asked(3)] }));
    assert.partialDeepStrictEqual(decision, { action: { kind: 'add-learner', name: 'orders-3' } });
  });

  test('adds no learner beside another one, whichever has the lower number', () => {
    const other = withEndpoint(endpoint(4, { isLearner: true }))(slot(4));
    const list = withLearner(5, 4);
    const membership = { ...list, members: list.members.filter(({ id }) => id !== 'a3') };
    assert.equal(join(situated(3, { spec: { replicas: 5 }, membership, more: [asked(3), other] })), undefined);
  });
});

describe('outlive-volume', () => {
  const leaving = withVolume({ leaving: true });
  const down = all(crashing, withEndpoint(silent));

  for (const [size, others, isRemoved] of [
    [2, 0, true],
    [3, 0, true],
    [3, 1, false],
    [4, 1, true],
    [5, 2, false],
    [6, 2, true],
    [7, 3, false],
  ] as const) {
    const what = isRemoved ? 'removes one' : 'keeps all';
    test(`${what} of ${size} voters, ${others} of the others down: those that stay need a quorum (I9)`, () => {
      const slots = Object.fromEntries(Array.from({ length: others }, (_, index) => [size - 1 - index, down]));
      const spec = { replicas: size - 1 };
      const decision = outliveVolume(situated(size, { spec, slots: { ...slots, 0: leaving } }));
      assert.equal(decision?.reason, isRemoved ? 'RemovingMember' : undefined);
    });
  }

  for (const [size, starts, isRemoved, what] of [
    [4, withPod({ ready: false }), false, 'keeps all of 4 voters while one starts: of the 2 others one may die (I1)'],
    [6, withPod({ ready: false }), true, 'removes one of 6 voters while one starts: of the 4 others one may die'],
    [4, down, true, 'removes one of 4 voters, one of the others down: nothing is to come'],
    [
      4,
      all(withPod({ ready: false }), withEndpoint(endpoint(3, { leader: '0' }))),
      true,
      'removes one of 4 voters, one of the others without a leader: nothing is sure to come',
    ],
  ] as const) {
    test(what, () => {
      const observation = situated(size, { spec: { replicas: size - 1 }, slots: { 0: leaving, [size - 1]: starts } });
      assert.equal(outliveVolume(observation)?.reason, isRemoved ? 'RemovingMember' : undefined);
    });
  }
});

describe('let-removed-go', () => {
  const { members: all3, ...list } = members(3);
  const membership = { ...list, members: all3.filter(({ id }) => id !== 'a2') };
  const gone = all(withPod({ ready: false }), withEndpoint(silent));
  const after = (seconds: number) => letRemovedGo(situated(3, { membership, slots: { 2: gone }, ...ill(2, seconds) }));

  test('takes nothing from a member that the list lacks before the grace of its pod is over', () => {
    assert.equal(after(119), undefined);
    assert.equal(after(120)?.reason, 'RetiringMember');
  });
});

describe('free-space', () => {
  const quota = 1000;
  /** Of which nine tenths are the limit. */
  function sized(dbSize: bigint) {
    return ({ ordinal }: Slot) => endpoint(ordinal, { dbSize, dbSizeInUse: 100n, errors: ['alarm:NOSPACE '] });
  }
  const decided = (size: bigint) =>
    freeSpace(situated(3, { every: (one) => all(withPod({ quota }), withEndpoint(sized(size)(one)))(one) }));

  test('takes the alarm back below nine tenths of the quota, and not at them', () => {
    assert.partialDeepStrictEqual(decided(899n), { action: { kind: 'disarm-alarm' } });
    assert.partialDeepStrictEqual(decided(900n), { action: { kind: 'defragment-member' } });
  });
});
