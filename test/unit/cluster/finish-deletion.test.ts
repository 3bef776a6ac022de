import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { holdFinalizer } from '../../../reconcile/cluster/decide/rules/deletion/hold-finalizer.ts';
import { volumesFinalizer } from '../../../reconcile/cluster/know/marks.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import {
  all,
  type Differences,
  healthy,
  noQuorum,
  prepared,
  silent,
  unborn,
  unsealed,
  withEndpoint,
  without,
  withRecord,
  withVolume,
} from './observations.ts';

const deletionTimestamp = '2026-01-02T03:00:00Z';
const held = { deletionTimestamp, finalizers: [volumesFinalizer] };
const withVolumes: Differences = { metadata: held, spec: { volumeRetention: { whenDeleted: 'Delete' } } };
const onlyVolumes = all(without('peer', 'configMap', 'statefulSet', 'pod'), withEndpoint(silent));

describe('deletion with policy Retain', () => {
  test('has nothing to do', () => {
    assert.partialDeepStrictEqual(decide(healthy(3, { metadata: { deletionTimestamp } })), {
      kind: 'done',
      reason: 'BeingDeleted',
    });
  });

  test('lets go of a finalizer that an earlier policy put there, and deletes nothing', () => {
    const decision = decide(healthy(3, { metadata: held }));
    assert.partialDeepStrictEqual(decision, { kind: 'act', action: { kind: 'set-finalizer', present: false } });
  });
});

describe('deletion with policy Delete', () => {
  test('without our finalizer deletes nothing: it was asked for too late', () => {
    const decision = decide(healthy(3, { ...withVolumes, metadata: { deletionTimestamp } }));
    assert.partialDeepStrictEqual(decision, { kind: 'done', reason: 'BeingDeleted' });
  });

  test('stops the members first', () => {
    const decision = decide(healthy(3, withVolumes));
    assert.partialDeepStrictEqual(decision, { kind: 'act', action: { kind: 'delete-peers' } });
    assert.deepEqual(
      decision.kind === 'act' && decision.action.kind === 'delete-peers' && decision.action.peers,
      [0, 1, 2].map((n) => ({ name: `orders-${n}`, uid: `peer-${n}` })),
    );
  });

  for (const [left, change] of [
    ['a pod', without('peer', 'statefulSet')],
    ['a StatefulSet', without('peer', 'pod')],
    [
      'a peer of an earlier resource',
      (slot: Parameters<typeof onlyVolumes>[0]) =>
        slot.peer ? { ...slot, peer: { ...slot.peer, current: false } } : slot,
    ],
  ] as const) {
    test(`deletes no volume while ${left} is left`, () => {
      const decision = decide(
        healthy(3, {
          ...withVolumes,
          every: onlyVolumes,
          slots: { 1: () => change(healthy(3).slots[1] ?? assert.fail()) },
        }),
      );
      assert.partialDeepStrictEqual(decision, { kind: 'wait', reason: 'MembersStopping' });
    });
  }

  test('deletes the volumes when nothing can write to them any more', () => {
    const decision = decide(healthy(3, { ...withVolumes, every: onlyVolumes }));
    assert.deepEqual(
      decision.kind === 'act' && decision.action.kind === 'delete-volumes' && decision.action.volumes,
      [0, 1, 2].map((n) => ({ name: `orders-${n}`, uid: `volume-${n}` })),
    );
  });

  test('waits for volumes that are leaving', () => {
    const every = all(onlyVolumes, withVolume({ leaving: true }));
    assert.partialDeepStrictEqual(decide(healthy(3, { ...withVolumes, every })), {
      kind: 'wait',
      reason: 'VolumesLeaving',
    });
  });

  test('lets go at the end', () => {
    assert.partialDeepStrictEqual(decide(unborn(3, withVolumes)), {
      action: { kind: 'set-finalizer', present: false },
    });
  });

  test('lets go of a cluster whose volumes are gone already', () => {
    const status = { observedGeneration: 1, clusterID: 'c1c1' };
    assert.partialDeepStrictEqual(decide(unborn(3, { ...withVolumes, status })), { action: { kind: 'set-finalizer' } });
  });

  test('of a birth that was never finished deletes what there is', () => {
    const decision = decide(prepared(3, { ...withVolumes, every: onlyVolumes }));
    assert.partialDeepStrictEqual(decision, { kind: 'act', action: { kind: 'delete-volumes' } });
  });

  test('deletes no volume of which it is not plain whose it is', () => {
    const decision = decide(
      healthy(3, { ...withVolumes, every: onlyVolumes, slots: { 2: withRecord({ token: 'othertoken' }) } }),
    );
    assert.partialDeepStrictEqual(decision, { kind: 'refuse', reason: 'VolumesOfTwoClusters' });
    assert.match(decision.kind === 'refuse' ? decision.cure : '', /remove the finalizer/);
  });

  test('leaves a stray of another token alone', () => {
    const stray = all(unsealed, onlyVolumes, withRecord({ token: 'another' }), withVolume({ bound: false }));
    const extra = stray(healthy(4).slots[3] ?? assert.fail());
    const decision = decide(healthy(3, { ...withVolumes, every: onlyVolumes, more: [extra] }));
    assert.deepEqual(
      decision.kind === 'act' && decision.action.kind === 'delete-volumes' && decision.action.volumes.length,
      3,
    );
  });
});

describe('a deletion after bootstrap.existing was removed, with a member of others listed', () => {
  const stranger = { id: 'beef', name: 'old-0', peerURLs: ['http://old-0:2380'], clientURLs: [], isLearner: false };
  const beside = (metadata: Differences['metadata'] = {}) =>
    healthy(1, {
      metadata,
      membership: (list) => (list.kind === 'known' ? { ...list, members: [...list.members, stranger] } : list),
    });

  test('waits: that member may lose its quorum with ours (I13)', () => {
    const decision = decide(beside(held));
    assert.deepEqual([decision.kind, decision.reason], ['refuse', 'AdoptionUnfinished']);
    assert.match(decision.kind === 'refuse' ? decision.cure : '', /spec\.bootstrap\.existing.*member remove beef/);
  });

  test('does not wait for a member that was ours, and of which nothing is left', () => {
    const three = healthy(3, withVolumes);
    const lost = { ...three, slots: three.slots.slice(0, 2) };
    assert.partialDeepStrictEqual(decide(lost), { kind: 'act', action: { kind: 'delete-peers' } });
  });

  test('finds its finalizer: it stays while the list has that member, or is unknown', () => {
    const finalizers = [volumesFinalizer];
    assert.equal(holdFinalizer(situate(beside({ finalizers }))), undefined);
    const unknown = { ...beside({ finalizers }), membership: noQuorum('none answers') };
    assert.equal(holdFinalizer(situate(unknown)), undefined);
    assert.equal(holdFinalizer(situate(healthy(1, { metadata: { finalizers } })))?.kind, 'act');
  });
});
