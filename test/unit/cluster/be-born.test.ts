import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import type { Slot } from '../../../reconcile/cluster/know/observation.ts';
import {
  all,
  healthy,
  initialCluster,
  members,
  namespace,
  prepared,
  recordFor,
  starting,
  token,
  unborn,
  unsealed,
  withInputs,
  without,
  withRecord,
  withVolume,
} from './observations.ts';

const named = (slot: Slot) =>
  slot.peer ? { ...slot, peer: { ...slot.peer, replacingVolume: `volume-${slot.ordinal}` } } : slot;

describe('a cluster without a trace', () => {
  for (const size of [1, 3, 5, 7]) {
    test(`of ${size} is recorded whole: one token, one list, every member`, () => {
      const preparing = preparedBy(decide(unborn(size)));
      assert.deepEqual(
        preparing.members.map(({ name }) => name),
        initialCluster(size).map(({ name }) => name),
      );
      for (const { record } of preparing.members) {
        assert.equal(record.token, 'nonce0nonce0nonce0');
        assert.deepEqual(record.initialCluster, initialCluster(size));
        assert.equal(record.state, 'bootstrapping');
        assert.equal(record.version, '3.6.16');
      }
    });
  }

  test('gives its members the addresses that the headless Service will give them', () => {
    assert.equal(initialCluster(1)[0]?.url, `http://orders-0-0.orders-peers.${namespace}.svc:2380`);
  });

  test('takes over the birth that another invocation had leased, with that token and size', () => {
    const action = preparedBy(decide(unborn(3, { nonce: 'theirs' })));
    const decision = decide(
      unborn(5, { lease: { kind: 'abandoned', holder: 'a/b', action }, spec: { version: '3.7.3' } }),
    );
    assert.deepEqual(preparedBy(decision), action);
  });

  test('is not born asleep', () => {
    const decision = decide(unborn(0, { shared: {} }));
    assert.partialDeepStrictEqual(decision, { kind: 'refuse', reason: 'NothingToHibernate' });
  });
});

describe('a birth that was begun', () => {
  for (const [what, gone] of [
    ['the first', [1, 2]],
    ['the last', [0, 1]],
    ['all but one', [1]],
  ] as const) {
    test(`is finished from ${what} of its volumes, with its own token`, () => {
      const preparing = preparedBy(
        decide(prepared(3, { gone, every: without('peer', 'configMap'), spec: { replicas: 5 }, nonce: 'new' })),
      );
      assert.equal(preparing.members.length, 3);
      for (const { record } of preparing.members) assert.equal(record.token, token);
    });
  }

  test('waits for a discarded volume to be gone, and never takes its token on', () => {
    const stray = all(without('peer', 'configMap'), withRecord({ token: 'zzz' }), withVolume({ leaving: true }));
    assert.partialDeepStrictEqual(decide(prepared(3, { slots: { 2: stray } })), {
      kind: 'wait',
      reason: 'OldVolumeLeaving',
    });
  });

  test('takes up no volume that was outvoted, though its name was recorded', () => {
    const decision = decide(
      prepared(3, {
        every: without('peer', 'configMap'),
        slots: {
          0: all(without('peer', 'configMap'), withRecord({ ...recordFor(0, 3, 'superseded'), token: 'older' })),
        },
      }),
    );
    assert.deepEqual(
      preparedBy(decision).members.map(({ name }) => name),
      ['orders-1', 'orders-2'],
    );
  });

  test('makes no empty volume for a peer whose volume is gone', () => {
    const decision = decide(starting(3, { slots: { 1: without('volume') } }));
    assert.notEqual(decision.kind, 'act');
  });

  test('makes no empty volume for a member that the list has', () => {
    const decision = decide(healthy(3, { slots: { 0: unsealed }, gone: [1] }));
    assert.notEqual(decision.kind === 'act' && decision.action.kind, 'prepare-members');
  });

  test('makes no empty volume once another member is sealed and no member answers', () => {
    const decision = decide(prepared(3, { slots: { 0: withRecord({ ...recordFor(0, 3) }) }, gone: [2] }));
    assert.notEqual(decision.kind === 'act' && decision.action.kind, 'prepare-members');
  });

  test('makes the last volume when the list says that its member never joined', () => {
    const two = { ...members(3), members: members(3).members.slice(0, 2) };
    const decision = decide(healthy(3, { slots: { 0: unsealed }, gone: [2], membership: two }));
    assert.deepEqual(
      preparedBy(decision).members.map(({ name }) => name),
      ['orders-2'],
    );
  });

  test('discards the unbound volumes of a birth that never happened, before anything else', () => {
    const stray = all(without('peer', 'configMap'), withRecord({ token: 'zzz' }));
    const decision = decide(prepared(3, { slots: { 2: stray } }));
    assert.deepEqual(decision.kind === 'act' && decision.action, {
      kind: 'delete-volumes',
      volumes: [{ name: 'orders-2', uid: 'volume-2' }],
    });
  });
});

describe('a volume that was never bound', () => {
  const storage = { size: '1Gi', storageClassName: 'fast' };

  test('is made anew when the spec asks for another class', () => {
    const decision = decide(starting(3, { every: withVolume({ bound: false }), spec: { storage } }));
    assert.deepEqual(decision.kind === 'act' && decision.action, {
      kind: 'replace-unbound-volume',
      volume: { name: 'orders-0', uid: 'volume-0' },
      storage,
    });
  });

  test('is left alone once it is bound', () => {
    const decision = decide(starting(3, { spec: { storage } }));
    assert.notEqual(decision.kind === 'act' && decision.action.kind, 'replace-unbound-volume');
  });

  test('is made anew also when the invocation that began it had only marked the peer', () => {
    const half = all(named, withInputs({ storage }), withVolume({ bound: false }));
    const decision = decide(starting(1, { spec: { storage }, slots: { 0: half } }));
    assert.partialDeepStrictEqual(decision, { kind: 'act', action: { kind: 'replace-unbound-volume', storage } });
  });

  test('is waited for while it leaves', () => {
    const half = all(named, withInputs({ storage }), withVolume({ bound: false, leaving: true }));
    const decision = decide(starting(1, { spec: { storage }, slots: { 0: half } }));
    assert.partialDeepStrictEqual(decision, { kind: 'wait', wakeOn: [{ on: 'change', of: 'volumeClaims' }] });
  });

  test('and was just deleted for that is made again as recorded', () => {
    const half = all(named, withInputs({ storage }), without('volume'));
    const preparing = preparedBy(decide(starting(1, { spec: { storage }, slots: { 0: half } })));
    assert.equal(preparing.members[0]?.record.token, token);
    assert.deepEqual(preparing.inputs.storage, storage);
  });

  test('loses the mark of a replacement that a binding overtook', () => {
    const preparing = preparedBy(decide(starting(1, { slots: { 0: named } })));
    assert.deepEqual(
      preparing.members.map(({ name }) => name),
      ['orders-0'],
    );
  });
});

function preparedBy(decision: Decision) {
  assert.equal(decision.kind, 'act', decision.message);
  if (decision.kind !== 'act' || decision.action.kind !== 'prepare-members') assert.fail(decision.reason);
  return decision.action;
}
