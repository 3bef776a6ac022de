import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VolumeRecord } from '../../../../manifests/render/volume-record.ts';
import { contentsFor } from '../../../../reconcile/cluster/act/requests/making.ts';
import { decide } from '../../../../reconcile/cluster/decide/decide.ts';
import type { ActionOf } from '../../../../reconcile/cluster/know/action.ts';
import { recordOf } from '../../../../reconcile/cluster/know/life.ts';
import type { Observation, Slot } from '../../../../reconcile/cluster/know/observation.ts';
import { clusterId, healthy, memberId, members, prepared, recordFor, unborn, withRecord } from '../observations.ts';
import { type Sent, sentBy } from './sent.ts';

/** Steps of several parts: their order, and that no part begins where the one before could not be done. */

function birthOf(size: number): ActionOf<'prepare-members'> {
  const decision = decide(unborn(size));
  assert.ok(decision.kind === 'act' && decision.action.kind === 'prepare-members', decision.reason);
  return decision.action;
}

const positions = ({ writes }: Sent, kind: string) =>
  writes.flatMap((write, index) => (write.startsWith(`${kind} `) ? [index] : []));

/** Volume and settings both say so. */
const recordedAs = (change: Partial<VolumeRecord>) => (slot: Slot) => {
  const changed = withRecord(change)(slot);
  const record = recordOf(changed) ?? assert.fail('the volume has no record');
  return changed.configMap
    ? { ...changed, configMap: { ...changed.configMap, ...contentsFor(record, slot.name) } }
    : slot;
};

describe('a birth in one step', () => {
  test('records every member before it starts any', () => {
    const sent = sentBy(birthOf(3), unborn(3));
    assert.equal(sent.ended, 'done');
    const kinds = ['makeVolume', 'makePeer', 'makeConfigMap', 'makeStatefulSet'];
    for (const kind of kinds) assert.equal(positions(sent, kind).length, 3, kind);
    for (const [index, kind] of kinds.slice(1).entries())
      assert.ok(Math.min(...positions(sent, kind)) > Math.max(...positions(sent, kinds[index] ?? '')), kind);
  });

  test('tells all volumes that their members may have started before it starts any (I5)', () => {
    const sent = sentBy(birthOf(3), unborn(3));
    assert.equal(positions(sent, 'writeRecord').length, 3);
    assert.ok(Math.max(...positions(sent, 'writeRecord')) < Math.min(...positions(sent, 'makeStatefulSet')));
  });

  for (const [what, record, ended] of [
    ['another birth', { token: 'another0another0' }, 'NameTaken'],
    ['a member that was sealed', { state: 'sealed', memberId: memberId(1), clusterId }, 'WorldMoved'],
  ] as const) {
    test(`starts no member where a volume is that of ${what} (I5)`, () => {
      const birth = birthOf(3);
      const { token } = recordFor(0, 3);
      const same = birth.members.map((member) => ({ ...member, record: { ...member.record, token } }));
      const sent = sentBy({ ...birth, members: same }, prepared(3, { slots: { 1: recordedAs(record) } }));
      assert.deepEqual([sent.ended, positions(sent, 'makeStatefulSet')], [ended, []]);
    });
  }
});

describe('a member that joins', () => {
  const list = members(3);
  const membership = { ...list, members: list.members.map((one) => ({ ...one, isLearner: one.id === memberId(2) })) };

  test('is promoted only after its volume and its settings say that it is sealed (I5)', () => {
    const sealing: ActionOf<'seal-members'> = {
      kind: 'seal-members',
      clusterId,
      members: [{ name: 'orders-2', memberId: memberId(2), version: '3.6.16' }],
      promotes: true,
    };
    const { memberId: _, ...recorded } = recordFor(2, 3);
    const joining = healthy(3, { membership, slots: { 2: withRecord({ ...recorded, state: 'joining' }) } });
    const sent = sentBy(sealing, joining);
    assert.equal(sent.ended, 'done');
    assert.equal(sent.writes.at(-1), 'promote orders-2');
    assert.ok(sent.writes.includes('writeRecord orders-2'));
  });

  test('is added only after every other volume was written to: no removal begins beside it (I2)', () => {
    const { record } = joinerOf(healthy(2, { spec: { replicas: 3 } }));
    const others = sentBy(record, healthy(2, { spec: { replicas: 3 } })).writes;
    const added = others.indexOf('addToList orders-2');
    assert.ok(added > 0, others.join());
    for (const name of ['orders-0', 'orders-1']) {
      const touched = others.indexOf(`touchVolume ${name}`);
      assert.ok(touched >= 0 && touched < added, others.join());
    }
  });
});

function joinerOf(observation: Observation): { readonly record: ActionOf<'prepare-members'> } {
  const ready = { ...observation, shared: { ...observation.shared } };
  const decision = decide(ready);
  assert.ok(decision.kind === 'act' && decision.action.kind === 'prepare-members', decision.reason);
  return { record: decision.action };
}

describe('a removal in one step', () => {
  const removal: ActionOf<'remove-member'> = {
    kind: 'remove-member',
    name: 'orders-2',
    memberId: memberId(2),
    clusterId,
    volume: { name: 'orders-2', uid: 'volume-2' },
    retires: { peer: { name: 'orders-2', uid: 'peer-2' }, keep: true },
    minAvailable: 2,
  };

  test('retires the member only after it is off the list, and keeps its volume (I4)', () => {
    const sent = sentBy(removal, healthy(3));
    assert.equal(sent.ended, 'done');
    const after = sent.writes.slice(sent.writes.indexOf('removeFromList orders-2') + 1);
    assert.deepEqual(after, ['writeRecord orders-2', 'deletePeer orders-2', 'applySharedObject']);
  });

  test('deletes the volume where the policy says so, but never one that is evidence', () => {
    const deleting = { ...removal, retires: { ...removal.retires, keep: false } };
    assert.ok(sentBy(deleting, healthy(3)).writes.includes('deleteVolume orders-2'));
    for (const kept of [{ keeps: true }, { replacedAt: '2026-01-02T03:04:05Z' }] as const)
      assert.ok(!sentBy({ ...deleting, ...kept }, healthy(3)).writes.includes('deleteVolume orders-2'));
  });
});
