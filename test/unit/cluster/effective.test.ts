import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { situate } from '../../../reconcile/cluster/decide.ts';
import { rememberedVoters } from '../../../reconcile/cluster/life.ts';
import type { Observation } from '../../../reconcile/cluster/observation.ts';
import { all, healthy, prepared, unborn, without, withRecord, withVolume } from './observations.ts';

const refusals = (observation: Observation) => situate(observation).effective.refusals.map(({ reason }) => reason);

describe('what cannot be done', () => {
  test('a smaller volume is refused and the size stays', () => {
    const observation = healthy(3, { spec: { storage: { size: '512Mi' } } });
    assert.equal(situate(observation).effective.inputs.storage.size, '1Gi');
    assert.deepEqual(refusals(observation), ['VolumeShrinkRefused']);
  });

  test('an equal size in another spelling is no change', () => {
    assert.deepEqual(refusals(healthy(3, { spec: { storage: { size: '1024Mi' } } })), []);
  });

  test('a volume that was never bound may become smaller', () => {
    assert.deepEqual(refusals(prepared(3, { spec: { storage: { size: '512Mi' } } })), []);
  });

  test('another TLS mode is refused and the mode stays', () => {
    const observation = healthy(3, { spec: { tls: { mode: 'Managed' } } });
    assert.equal(situate(observation).effective.inputs.tls.mode, 'Disabled');
    assert.deepEqual(refusals(observation), ['TlsModeRefused']);
  });

  test('every refusal is named, not only the first', () => {
    const observation = healthy(3, { spec: { version: '3.5.35', storage: { size: '1Mi' }, tls: { mode: 'Managed' } } });
    assert.deepEqual(refusals(observation), ['DowngradeRefused', 'TlsModeRefused', 'VolumeShrinkRefused']);
  });
});

describe('the number of members', () => {
  for (const [what, observation, expected] of [
    ['unborn: as the spec says', unborn(5), 5],
    ['in birth: as recorded, whatever the spec says', prepared(3, { spec: { replicas: 5 } }), 3],
    ['in birth with one volume: as recorded', prepared(3, { gone: [1, 2] }), 3],
    ['born: as the spec says', healthy(3, { spec: { replicas: 1 } }), 1],
    ['born, and none are wanted: none', healthy(3, { spec: { replicas: 0 } }), 0],
  ] as const) {
    test(what, () => assert.equal(situate(observation).effective.replicas, expected));
  }

  test('born, with a stray volume of a birth that never happened: the stray is not remembered as a voter', () => {
    const stray = prepared(4).slots[3] ?? assert.fail();
    const observation = healthy(3, {
      more: [all(without('peer', 'configMap'), withRecord({ token: 'another' }), withVolume({ bound: false }))(stray)],
    });
    const { slots, life } = situate(observation);
    assert.equal(life.stage === 'born' && rememberedVoters(slots, life.strays), 3);
  });
});
