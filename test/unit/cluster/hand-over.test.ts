import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VolumeRecord } from '../../../manifests/render/volume-record.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { recordOf } from '../../../reconcile/cluster/know/life.ts';
import type { Slot } from '../../../reconcile/cluster/know/observation.ts';
import { livesGivenUp, unmarkedOf, withoutOutvoted } from '../../../reconcile/cluster/know/recovery/outvoted.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { all, clusterId, healthy, memberId, noQuorum, without, withRecord, withVolume } from './observations.ts';
import { late, spec } from './rollbacks.ts';

/** Each part of the guards of a hand-over by itself, on worlds that no rule alone would make. */

type Change = (slot: Slot) => Slot;

const same: Change = (slot) => slot;
const [example] = healthy(1).slots;
const { statefulSet, pod } = example ?? assert.fail();
const withSet: Change = (slot) => ({ ...slot, ...(statefulSet && { statefulSet }) });
const withItsPod: Change = (slot) => ({ ...slot, ...(pod && { pod }) });
const lost = withVolume({ lost: true });
const given = (trial?: VolumeRecord['trial']) => late(1, { state: 'restored', ...(trial && { trial }) });

describe('a rollback whose data are there is taken back', () => {
  const before = healthy(3, { spec: spec() }).slots;
  const stateOf = (slot: Slot, former: readonly Slot[] = before) => {
    const [found] = withoutOutvoted([slot, ...former]);
    return found && recordOf(found)?.state;
  };
  const older = withRecord({ clusterId: 'c0c0', memberId: '99', state: 'superseded' })(late(1));

  for (const [what, slot, former] of [
    ['its volume is lost', lost(given())],
    ['its volume is being deleted', withVolume({ leaving: true })(given())],
    ['a cluster of before that one was given up as well', lost(given()), [...before, older]],
  ] as const)
    test(`where ${what}`, () => assert.equal(stateOf(slot, former), 'restoring'));

  for (const [what, slot, former] of [
    ['its volume is there', given()],
    ['its StatefulSet was made', withSet(lost(given()))],
    ['its pod is there', withItsPod(lost(given()))],
    ['a member that it gives up was told', lost(given()), before.map(withRecord({ state: 'superseded' }))],
    ['none of those is left that it gives up', lost(given()), [older]],
    ['it is sealed', lost(late(1, { state: 'sealed' }))],
  ] as const)
    test(`not where ${what} (I4)`, () => assert.equal(stateOf(slot, former), recordOf(slot)?.state));

  test('not where it gives nothing up: a birth has no cluster beside it (I4)', () => {
    const { gaveUp: _, ...record } = recordOf(given()) ?? assert.fail();
    const birth = { ...lost(given()), volume: { ...lost(given()).volume, record: { kind: 'valid', record } } } as Slot;
    assert.equal(stateOf(birth), 'restored');
  });
});

/** All others are marked. */
function after(chosen: Slot, former: Change) {
  const found = healthy(3, { spec: spec(), every: all(withRecord({ state: 'superseded' }), former), more: [chosen] });
  const seen = { ...found, slots: withoutOutvoted(found.slots), membership: noQuorum('none is asked') };
  return decide({ ...seen, recovery: { kind: 'known', pods: [], nodes: {} } });
}

describe('a hand-over', () => {
  const ended = without('statefulSet', 'pod');

  test('of data that no etcd served goes on only where its member was started already', () => {
    assert.equal(after(given(), ended).reason, 'RollbackTrialFailed');
    for (const started of [withSet, withItsPod])
      assert.notEqual(after(started(given()), ended).reason, 'RollbackTrialFailed');
  });

  test('that was not tried offers to go without only where nothing of the others is left', () => {
    for (const left of [same, without('pod'), without('statefulSet')]) {
      const decision = after(given(), left);
      assert.match(decision.message, /: no member ends for it$/);
      assert.ok(decision.kind === 'refuse' && !decision.cure.includes('waived'), decision.reason);
    }
  });

  test('deletes no peer once its member was started, and none that goes already', () => {
    assert.equal(after(given('passed'), ended).reason, 'DroppingPeers');
    for (const started of [withSet, withItsPod])
      assert.notEqual(after(started(given('passed')), ended).reason, 'DroppingPeers');
    const leaving: Change = ({ peer, ...slot }) => ({ ...slot, ...(peer && { peer: { ...peer, leaving: true } }) });
    assert.notEqual(after(given('passed'), all(ended, leaving)).reason, 'DroppingPeers');
  });

  test('waits for no silent node where all that it would stop is being stopped already', () => {
    const lastSeenOn = { 'orders-0': ['node-z'] };
    const chosen = withRecord({ recovery: { id: '0123456789ab', attempt: 1, lastSeenOn } })(given('passed'));
    const reason = (former: Change) => {
      const every = all(withRecord({ state: 'superseded' }), former);
      const found = healthy(3, { spec: spec(), every, more: [chosen] });
      const seen = { ...found, slots: withoutOutvoted(found.slots), membership: noQuorum('none is asked') };
      const decision = decide({ ...seen, recovery: { kind: 'known', pods: [], nodes: { 'node-z': 'silent' } } });
      return decision.message;
    };
    assert.match(reason(same), /no member is stopped before that is known$/);
    const stopping: Change = ({ statefulSet: set, ...slot }) => ({
      ...slot,
      ...(set && { statefulSet: { ...set, leaving: true } }),
    });
    assert.doesNotMatch(reason(stopping), /no member is stopped before that is known$/);
  });
});

test('a volume that was left behind leaves none behind, and one that goes marks none (I10)', () => {
  const outvoted = [{ name: 'orders-1', memberId: memberId(1) }];
  const seen = (first: Change) =>
    withoutOutvoted(healthy(2, { slots: { 0: all(withRecord({ outvoted }), first) } }).slots);
  const statesOf = (first: Change) => seen(first).map((slot) => recordOf(slot)?.state);
  const witnessOf = (first: Change) => unmarkedOf(seen(first))?.witness.name;
  assert.deepEqual([statesOf(same), witnessOf(same)], [['sealed', 'superseded'], 'orders-0']);
  assert.deepEqual(statesOf(withRecord({ outvoted, state: 'superseded' })), ['superseded', 'sealed']);
  const going = withVolume({ leaving: true });
  assert.deepEqual([statesOf(going), witnessOf(going)], [['sealed', 'superseded'], undefined]);
});

test('the status says which lives were given up only where no volume can, and in IDs of etcd', () => {
  const cluster = (observation: ReturnType<typeof healthy>, gaveUp: readonly string[]) => ({
    ...observation.cluster,
    status: { ...observation.cluster.status, observedGeneration: 1, gaveUp },
  });
  const observation = healthy(1);
  const { life } = situate(observation);
  const bare = { cluster: cluster(observation, [clusterId, 'no ID']), slots: [] };
  assert.deepEqual(livesGivenUp(bare, life), [], 'one that was born says so itself');
  assert.deepEqual(livesGivenUp(bare, { stage: 'unclear' } as typeof life), [clusterId]);
});
