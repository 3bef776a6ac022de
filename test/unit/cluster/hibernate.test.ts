import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { stopMembers } from '../../../reconcile/cluster/decide/rules/deletion/hibernate.ts';
import type { ActionOf } from '../../../reconcile/cluster/know/action.ts';
import { recordOf } from '../../../reconcile/cluster/know/life.ts';
import type { Slot } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { assertStopped, leftBy, sentBy } from './actions/sent.ts';
import { all, healthy, noQuorum, silent, withEndpoint, without, withRecord, withVolume } from './observations.ts';

/** Each part of the guards of a sleep by itself. */

type Change = (slot: Slot) => Slot;

const same: Change = (slot) => slot;
const asleep = withRecord({ state: 'hibernating' });
const stopped = all(without('statefulSet', 'pod'), withEndpoint(silent));

describe('a cluster that sleeps, or is about to', () => {
  const seen = (replicas: number, every: Change, first: Change = same) => {
    const membership = noQuorum('no member runs');
    return healthy(3, { spec: { replicas }, membership, every, slots: { 0: first } });
  };

  test('wakes when the spec asks for members, and else stays', () => {
    assert.equal(decide(seen(3, all(asleep, stopped))).reason, 'WakingMembers');
    const rest = decide(seen(0, all(asleep, stopped)));
    assert.deepEqual([rest.kind, rest.reason], ['done', 'Hibernating']);
  });

  test('is stopped for good where one of its members was not told yet, or has a StatefulSet', () => {
    for (const first of [withRecord({ state: 'sealed' }), same]) {
      const every = first === same ? all(asleep, withEndpoint(silent)) : all(asleep, stopped);
      const decision = decide(seen(0, every, first));
      assert.ok(decision.kind === 'act' && decision.action.kind === 'hibernate-members', decision.reason);
    }
  });

  test('waits for pods that end, and stops no StatefulSet twice', () => {
    const leaving: Change = ({ statefulSet, ...slot }) => ({
      ...slot,
      ...(statefulSet && { statefulSet: { ...statefulSet, leaving: true } }),
    });
    assert.equal(decide(seen(0, all(asleep, withEndpoint(silent), leaving))).reason, 'MembersStopping');
    const one =
      (change: Change): Change =>
      (slot) =>
        all(asleep, slot.ordinal === 0 ? change : stopped)(slot);
    for (const left of [without('pod'), without('statefulSet')]) {
      const decision = decide(seen(0, one(all(withEndpoint(silent), leaving, left))));
      assert.equal(decision.reason, 'MembersStopping');
    }
    const behind = all(withRecord({ state: 'superseded' }), without('statefulSet'), withEndpoint(silent));
    assert.equal(decide(seen(0, one(behind))).reason, 'Hibernating', 'one that was left behind does not count');
  });

  test('tells and stops what is ours and there, and nothing that goes already', () => {
    const half: Change = ({ statefulSet, configMap, ...slot }) => ({
      ...slot,
      ...(statefulSet && { statefulSet: { ...statefulSet, leaving: true } }),
      ...(configMap && { configMap: { ...configMap, leaving: true } }),
    });
    const old: Change = ({ configMap, ...slot }) => ({
      ...slot,
      ...(configMap && { configMap: { ...configMap, current: false } }),
    });
    const awaitedBackup = {
      ...{ kind: 'known', before: 'hibernation', name: 'nightly', state: 'good' },
      ended: { uid: 'backup', at: '2026-01-02T03:04:00Z', revision: 10 ** 9 },
    } as never;
    const behind = all(withRecord({ state: 'superseded' }), without('statefulSet', 'pod'));
    const observation = healthy(4, { spec: { replicas: 0 }, slots: { 0: half, 1: old, 3: behind } });
    const decision = stopMembers(situate({ ...observation, awaitedBackup }));
    assert.ok(decision.kind === 'act' && decision.action.kind === 'hibernate-members', decision.reason);
    const { volumes, statefulSets, after } = decision.action;
    const names = (refs: readonly { readonly name: string }[] | undefined) => refs?.map(({ name }) => name);
    assert.deepEqual(names(volumes), ['orders-0', 'orders-1', 'orders-2']);
    assert.deepEqual(names(statefulSets), ['orders-1', 'orders-2']);
    assert.deepEqual(names(after?.configMaps), ['orders-2']);
  });

  test('stops no member whose volume would go with it, and is told so', () => {
    const going = withVolume({ leaving: true });
    const both = decide(seen(0, all(asleep, withEndpoint(silent)), going));
    assert.deepEqual([both.kind, both.reason], ['refuse', 'VolumeLeaving']);
    assert.notEqual(decide(seen(0, all(asleep, stopped), going)).reason, 'VolumeLeaving', 'it is stopped already');
  });
});

describe('the last backup of a sleep', () => {
  const [one, two] = [0, 1].map((n) => ({ name: `orders-${n}`, uid: `volume-${n}` }));
  const sets = [0, 1].map((n) => ({ name: `orders-${n}`, uid: `set-${n}` }));
  assert.ok(one && two);
  const backup = { name: 'nightly', uid: 'backup', endedAt: '2026-01-02T03:00:00Z', revision: 100 };
  const action: ActionOf<'hibernate-members'> = {
    kind: 'hibernate-members',
    volumes: [one, two],
    statefulSets: sets,
    after: { ...backup, configMaps: [] },
  };
  const at =
    (revision: bigint): Change =>
    ({ endpoint, ...slot }) => ({
      ...slot,
      endpoint: endpoint.kind === 'known' ? { ...endpoint, status: { ...endpoint.status, revision } } : endpoint,
    });
  const remembered = (first: Change, second: Change) => {
    const { slots } = leftBy(action, healthy(2, { slots: { 0: first, 1: second } }));
    return slots.map((slot) => recordOf(slot)?.hibernationBackup);
  };

  test('is remembered only where each member that stops has no more than it (I12)', () => {
    assert.deepEqual(remembered(at(100n), at(100n)), [backup, backup]);
    for (const first of [at(101n), withEndpoint(silent)])
      for (const [a, b] of [
        [first, at(100n)],
        [at(100n), first],
      ] as const)
        assert.deepEqual(remembered(a, b), [undefined, undefined]);
  });

  test('is none where none is named', () => {
    const { after: _, ...without } = action;
    const { slots } = leftBy(without, healthy(2));
    assert.deepEqual(
      slots.map((slot) => recordOf(slot)?.hibernationBackup),
      [undefined, undefined],
    );
  });

  test('is told to no volume that was made anew, and to none in another state (I5)', () => {
    const { after: _, ...without } = action;
    assertStopped(sentBy({ ...without, volumes: [{ ...one, uid: 'another' }] }, healthy(2)));
    for (const state of ['superseded', 'releasing', 'joining'] as const)
      assertStopped(sentBy({ ...without, volumes: [one] }, healthy(2, { slots: { 0: withRecord({ state }) } })));
  });

  test('that changes, or is none any more, is written anew; what says so already is not', () => {
    const { after: _, ...without } = action;
    const writes = (record: Parameters<typeof withRecord>[0]) =>
      sentBy({ ...without, volumes: [one], statefulSets: [] }, healthy(2, { slots: { 0: withRecord(record) } })).writes;
    assert.deepEqual(writes({ state: 'hibernating' }), []);
    assert.deepEqual(writes({ state: 'hibernating', hibernationBackup: backup }), ['writeRecord orders-0']);
    assert.deepEqual(writes({ state: 'sealed' }), ['writeRecord orders-0']);
  });
});
