import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lifeOf } from '../../../reconcile/cluster/know/life.ts';
import {
  all,
  healthy,
  noQuorum,
  prepared,
  recordFor,
  sealedSlot,
  starting,
  unborn,
  unsealed,
  withInputs,
  without,
  withRecord,
  withVolume,
} from './observations.ts';

describe('the life of a cluster, told from what remembers it', () => {
  test('a cluster of which there is no trace is unborn', () => {
    assert.deepEqual(lifeOf(unborn(3)), { stage: 'unborn' });
  });

  test('a cluster whose every member is sealed is born', () => {
    assert.partialDeepStrictEqual(lifeOf(healthy(3)), {
      stage: 'born',
      token: recordFor(0, 3).token,
      clusterId: 'c1c1',
    });
  });

  test('one volume of three that were recorded is a birth, to be finished with all three', () => {
    const life = lifeOf(prepared(3, { gone: [1, 2], slots: { 0: without('peer', 'configMap') } }));
    assert.equal(life.stage, 'birth');
    assert.equal(life.stage === 'birth' && life.record.initialCluster.length, 3);
  });

  test('one member that is not sealed keeps the whole cluster in its birth', () => {
    assert.equal(lifeOf(healthy(3, { slots: { 2: unsealed } })).stage, 'birth');
  });

  test('volumes that were retained are a born cluster, though nothing else is left', () => {
    const observation = healthy(3, { every: without('peer', 'configMap', 'statefulSet', 'pod') });
    assert.equal(lifeOf(observation).stage, 'born');
  });

  test('a status that vanished changes nothing', () => {
    assert.deepEqual(lifeOf(healthy(3)), lifeOf(healthy(3, { status: { observedGeneration: 3, clusterID: 'c1c1' } })));
  });

  for (const [what, observation] of [
    ['peers are left', healthy(3, { every: without('volume') })],
    ['a ConfigMap is left', healthy(3, { gone: [1, 2], slots: { 0: without('volume', 'peer') } })],
    ['only the status remembers it', unborn(3, { status: { observedGeneration: 3, clusterID: 'c1c1' } })],
    ['only the Service for clients is left', unborn(3, { shared: { clientService: { state: 'present' } } })],
    ['only a changed Service for clients is left', unborn(3, { shared: { clientService: { state: 'drifted' } } })],
  ] as const) {
    test(`without any volume a cluster of which ${what} is never born again`, () => {
      assert.partialDeepStrictEqual(lifeOf(observation), { stage: 'unclear', reason: 'AllVolumesGone' });
    });
  }

  test('a volume with an unreadable record makes life unclear without a quorum, and is named', () => {
    const broken = withVolume({ record: { kind: 'invalid', problem: 'annotation etcd.ratchet.dev/token is missing' } });
    const life = lifeOf(healthy(3, { slots: { 1: broken }, membership: noQuorum('none') }));
    assert.partialDeepStrictEqual(life, { stage: 'unclear', reason: 'VolumeRecordUnreadable' });
    assert.match(life.stage === 'unclear' ? life.message : '', /orders-1.*token is missing/);
  });

  test('bound volumes of two tokens are never mixed', () => {
    const life = lifeOf(healthy(3, { slots: { 2: withRecord({ token: 'othertoken' }) } }));
    assert.partialDeepStrictEqual(life, { stage: 'unclear', reason: 'VolumesOfTwoClusters' });
  });

  test('an unbound volume under another token is a stray, whichever token sorts first', () => {
    for (const other of ['aaaa', 'zzzz']) {
      const stray = all(
        unsealed,
        withVolume({ bound: false }),
        withRecord({ token: other }),
        without('peer', 'configMap'),
      );
      const life = lifeOf(healthy(3, { more: [stray(extraSlot())] }));
      assert.equal(life.stage, 'born');
      assert.deepEqual(life.stage === 'born' && life.strays.map(({ name }) => name), ['orders-3']);
    }
  });

  test('of two tokens without data the one that a living peer names goes on', () => {
    for (const other of ['aaaa', 'zzzz']) {
      const life = lifeOf(
        prepared(3, { slots: { 2: all(withRecord({ token: other }), without('peer', 'configMap')) } }),
      );
      assert.equal(life.stage === 'birth' && life.record.token, recordFor(0, 3).token);
    }
  });

  test('a late PVC of a member that joins an earlier cluster is a stray: the birth goes on', () => {
    for (const token of ['aaaa', 'zzzz']) {
      const late = all(withRecord({ token, state: 'joining', clusterId: 'old' }), withVolume({ bound: false }));
      const life = lifeOf(
        prepared(1, {
          slots: { 0: all(withRecord({ mayHaveStarted: 'peer-0' }), withVolume({ bound: false })) },
          more: [all(late, without('peer', 'configMap'))(extraSlot())],
        }),
      );
      assert.equal(life.stage === 'birth' && life.record.token, recordFor(0, 1).token);
      assert.deepEqual(life.stage === 'birth' && life.strays.map(({ name }) => name), ['orders-3']);
    }
  });

  test('of two tokens without data and without peers the one of the unfinished lease goes on', () => {
    const other = { ...recordFor(2, 3, 'bootstrapping'), token: 'zzzz' };
    const life = lifeOf(
      prepared(3, {
        every: without('peer', 'configMap'),
        slots: { 2: all(without('peer', 'configMap'), withRecord({ token: 'zzzz' })) },
        lease: {
          kind: 'abandoned',
          holder: 'a/b',
          action: {
            kind: 'prepare-members',
            members: [{ name: 'orders-0', record: other }],
            inputs: inputs(),
          },
        },
      }),
    );
    assert.equal(life.stage === 'birth' && life.record.token, 'zzzz');
  });

  for (const state of ['released', 'superseded'] as const) {
    test(`a ${state} volume belongs to the cluster no more`, () => {
      const life = lifeOf(healthy(3, { more: [withRecord({ state, token: 'older' })(extraSlot())] }));
      assert.equal(life.stage, 'born');
    });
  }

  describe('a volume that was being made anew', () => {
    const marked = (slot: Parameters<typeof unsealed>[0]) =>
      slot.peer ? { ...slot, peer: { ...slot.peer, replacingVolume: 'volume-0' } } : slot;

    test('is missing: the birth goes on, as its peer recorded it', () => {
      const life = lifeOf(prepared(1, { slots: { 0: all(marked, without('volume')) } }));
      assert.equal(life.stage === 'birth' && life.record.token, recordFor(0, 1).token);
    });

    test('is missing, but the ConfigMap is sealed: its data is gone', () => {
      const life = lifeOf(healthy(1, { slots: { 0: all(marked, without('volume')) } }));
      assert.partialDeepStrictEqual(life, { stage: 'unclear', reason: 'AllVolumesGone' });
    });

    test('is missing while others wait: the birth goes on with all of them', () => {
      const life = lifeOf(starting(3, { slots: { 1: all(marked, without('volume')) } }));
      assert.equal(life.stage === 'birth' && life.record.initialCluster.length, 3);
    });
  });
});

function extraSlot() {
  return sealedSlot(3, 3, inputs());
}

function inputs() {
  const peer = withInputs({})(healthy(1).slots[0] ?? assert.fail()).peer;
  return peer?.inputs ?? assert.fail();
}
