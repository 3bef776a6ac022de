import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VolumeState } from '../../../manifests/api/etcd-peer.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import {
  all,
  healthy,
  noQuorum,
  prepared,
  silent,
  withEndpoint,
  without,
  withRecord,
  withVolume,
} from './observations.ts';

const onlyVolumes = all(without('peer', 'configMap', 'statefulSet', 'pod'), withEndpoint(silent));
const nothingRuns = noQuorum('no member runs');

describe('volumes without peers', () => {
  test('are taken up, each with its own record, at the version that ran', () => {
    const decision = decide(
      healthy(3, {
        every: onlyVolumes,
        membership: nothingRuns,
        spec: { version: '3.7.3' },
        metadata: { uid: 'again' },
      }),
    );
    assert.equal(decision.reason, 'AdoptingVolumes');
    const action =
      decision.kind === 'act' && decision.action.kind === 'prepare-members' ? decision.action : assert.fail();
    assert.deepEqual(
      action.members.map(({ name, record }) => `${name} ${record.state} ${record.memberId}`),
      ['orders-0 sealed a0', 'orders-1 sealed a1', 'orders-2 sealed a2'],
    );
    assert.equal(action.inputs.version, '3.6.16');
  });

  const adopted = (state: VolumeState) => {
    const slots = { 2: all(onlyVolumes, withRecord({ state })) };
    const decision = decide(healthy(3, { every: onlyVolumes, membership: nothingRuns, slots }));
    const action =
      decision.kind === 'act' && decision.action.kind === 'prepare-members'
        ? decision.action
        : assert.fail(decision.reason);
    return action.members.map(({ name }) => name);
  };

  for (const state of ['joining', 'releasing', 'recovered'] as const)
    test(`are taken up when they are ${state}`, () =>
      assert.deepEqual(adopted(state), ['orders-0', 'orders-1', 'orders-2']));

  for (const state of ['released', 'recovering', 'superseded'] as const)
    test(`are left alone when they are ${state}`, () => assert.deepEqual(adopted(state), ['orders-0', 'orders-1']));

  test('are not taken up while they are being deleted', () => {
    const decision = decide(
      healthy(2, { every: onlyVolumes, membership: nothingRuns, slots: { 1: withVolume({ leaving: true }) } }),
    );
    const action =
      decision.kind === 'act' && decision.action.kind === 'prepare-members' ? decision.action : assert.fail();
    assert.deepEqual(
      action.members.map(({ name }) => name),
      ['orders-0'],
    );
  });
});

describe('StatefulSets', () => {
  test('are made for all prepared members at once', () => {
    assert.partialDeepStrictEqual(decide(prepared(3)), {
      action: { kind: 'start-members', peers: ['orders-0', 'orders-1', 'orders-2'] },
    });
  });

  test('are made again for a member that lost its own', () => {
    const observation = healthy(3, { slots: { 1: all(without('statefulSet', 'pod'), withEndpoint(silent)) } });
    assert.partialDeepStrictEqual(decide(observation), { action: { kind: 'start-members', peers: ['orders-1'] } });
  });

  test('are not made where the volume is gone or going', () => {
    for (const change of [without('volume'), withVolume({ leaving: true })]) {
      const observation = healthy(3, {
        slots: { 1: all(without('statefulSet', 'pod'), change, withEndpoint(silent)) },
      });
      assert.notEqual(decide(observation).kind, 'act');
    }
  });

  test('are not made on a volume whose member must never be started again', () => {
    for (const state of ['released', 'superseded'] as const) {
      const change = all(without('statefulSet', 'pod'), withRecord({ state }), withEndpoint(silent));
      const decision = decide(healthy(3, { slots: { 1: change } }));
      assert.ok(decision.kind !== 'act' || decision.action.kind === 'retire-member', decision.message);
    }
  });
});
