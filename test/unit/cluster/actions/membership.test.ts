import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations } from '../../../../manifests/render/names.ts';
import type { ActionOf } from '../../../../reconcile/cluster/know/action.ts';
import type { Slot } from '../../../../reconcile/cluster/know/observation.ts';
import {
  all,
  clusterId,
  endpoint,
  healthy,
  memberId,
  members,
  silent,
  withEndpoint,
  withRecord,
} from '../observations.ts';
import { assertStopped, sentBy } from './sent.ts';

/** Each guard of an action by itself: the world is as no rule would begin it, as after the decision it may be. */

describe('a learner', () => {
  const action = { kind: 'promote-learner', name: 'orders-2', memberId: memberId(2), clusterId } as const;
  const list = members(3);
  const membership = { ...list, members: list.members.map((one) => ({ ...one, isLearner: one.id === memberId(2) })) };
  const promoting = (change: (slot: Slot) => Slot) => sentBy(action, healthy(3, { membership, slots: { 2: change } }));
  const withSettings = (immutable: boolean) => (slot: Slot) =>
    slot.configMap ? { ...slot, configMap: { ...slot.configMap, immutable } } : slot;

  test('becomes a voter where volume and bootstrap settings say that it is sealed', () => {
    assert.deepEqual(promoting((slot) => slot).writes, ['promote orders-2']);
  });

  for (const [what, change] of [
    ['whose volume is not sealed', withRecord({ state: 'joining' })],
    ['whose volume is sealed as another member', withRecord({ memberId: 'another' })],
    ['whose bootstrap settings may still change', withSettings(false)],
  ] as const) {
    test(`${what} stays a learner (I5)`, () => {
      assertStopped(promoting(change));
    });
  }
});

describe('a removal', () => {
  const action: ActionOf<'remove-member'> = {
    kind: 'remove-member',
    name: 'orders-2',
    memberId: memberId(2),
    clusterId,
    volume: { name: 'orders-2', uid: 'volume-2' },
    successor: { name: 'orders-1', memberId: memberId(1), clusterId },
  };
  const leaderless = all(withEndpoint(endpoint(1, { leader: '0' })));

  test('writes to every other volume, then to its own, and then to the member list', () => {
    assert.deepEqual(sentBy(action, healthy(3)).writes, [
      'touchVolume orders-0',
      'touchVolume orders-1',
      'writeRecord orders-2',
      'removeFromList orders-2',
    ]);
  });

  test('hands leadership over first, where the member that goes leads', () => {
    const leads = (ordinal: number) => withEndpoint(endpoint(ordinal, { leader: memberId(2) }));
    const led = healthy(3, { slots: { 0: leads(0), 1: leads(1), 2: leads(2) } });
    assert.deepEqual(sentBy(action, led).writes.slice(-2), ['moveLeader orders-1', 'removeFromList orders-2']);
    const { successor: _, ...alone } = action;
    assert.equal(sentBy(alone, led).ended, 'WorldMoved');
    assert.ok(!sentBy(alone, led).writes.includes('removeFromList orders-2'));
  });

  for (const [what, change] of [
    ['does not answer', withEndpoint(silent)],
    ['follows no leader', leaderless],
    ['answers from another cluster', withEndpoint(endpoint(1, { clusterId: 'another' }))],
  ] as const) {
    test(`changes nothing where one of the two others ${what} (I9)`, () => {
      assertStopped(sentBy(action, healthy(3, { slots: { 1: change } })));
    });
  }

  test('asks for nothing where the approval that it takes was taken back, or is another one (I14)', () => {
    const given = (annotation: Readonly<Record<string, string>>) =>
      healthy(3, { metadata: { annotations: annotation } });
    const approved = { ...action, approval: 'c1c1/0123456789ab' };
    const removed = sentBy(approved, given({ [annotations.replaceMember]: approved.approval }));
    assert.equal(removed.writes.at(-1), 'removeFromList orders-2');
    for (const other of [
      {},
      { [annotations.replaceMember]: 'c1c1/000000000000' },
      { [annotations.adopt]: approved.approval },
    ])
      assertStopped(sentBy(approved, given(other)));
  });

  test('changes nothing where another one was begun (I2)', () => {
    assertStopped(sentBy(action, healthy(3, { slots: { 0: withRecord({ state: 'releasing' }) } })));
  });

  test('for differing data asks again whether the others agree, before it changes anything', () => {
    const corrupt = { revision: '7', trusted: [memberId(0), memberId(1)] };
    const { asked } = sentBy({ ...action, corrupt }, healthy(3));
    assert.ok(asked.indexOf('requireAgreement') >= 0, 'the hashes are compared');
    assert.ok(asked.indexOf('requireAgreement') < asked.indexOf('touchVolume orders-0'));
    const few = { ...corrupt, trusted: [memberId(0)] };
    assertStopped(sentBy({ ...action, corrupt: few }, healthy(3)));
  });
});
