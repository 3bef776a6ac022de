import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { situate } from '../../../reconcile/cluster/decide.ts';
import type { Observation } from '../../../reconcile/cluster/observation.ts';
import {
  all,
  endpoint,
  healthy,
  prepared,
  starting,
  unborn,
  withContainer,
  withEndpoint,
  withInputs,
  without,
  withRecord,
  withVolume,
} from './observations.ts';

const version = (observation: Observation) => situate(observation).effective.inputs.version;
const refusals = (observation: Observation) => situate(observation).effective.refusals.map(({ reason }) => reason);

describe('the version that members get', () => {
  test('is the one of the spec before anything ran', () => {
    assert.equal(version(unborn(3, { spec: { version: '3.7.3' } })), '3.7.3');
    assert.equal(version(prepared(3, { spec: { version: '3.5.35' } })), '3.5.35');
    assert.equal(version(starting(3, { spec: { version: '3.5.35' } })), '3.5.35');
  });

  test('loses the v that a person may write', () => {
    assert.equal(version(unborn(3, { spec: { version: 'v3.6.16' } })), '3.6.16');
  });

  for (const [wanted, reason] of [
    ['3.6.15', 'DowngradeRefused'],
    ['3.5.35', 'DowngradeRefused'],
    ['3.6.17', 'UpgradeNotAvailable'],
    ['3.7.3', 'UpgradeNotAvailable'],
  ] as const) {
    test(`stays what it is when a running cluster is asked for ${wanted}: ${reason}, with field and cure`, () => {
      const observation = healthy(3, { spec: { version: wanted } });
      assert.equal(version(observation), '3.6.16');
      const [refusal] = situate(observation).effective.refusals;
      assert.equal(refusal?.reason, reason);
      assert.equal(refusal?.field, 'spec.version');
      assert.match(refusal?.cure ?? '', /3\.6\.16/);
    });
  }

  test('does not go down when all pods are gone: the volumes know what ran', () => {
    const observation = healthy(3, {
      spec: { version: '3.5.35' },
      every: all(without('pod'), withEndpoint({ kind: 'unknown', cause: '' })),
    });
    assert.equal(version(observation), '3.6.16');
  });

  test('does not go down when a re-created resource finds volumes that were planned for another: they may have run', () => {
    const observation = prepared(3, { spec: { version: '3.5.35' }, every: without('peer', 'configMap') });
    assert.equal(version(observation), '3.6.16');
    assert.deepEqual(refusals(observation), ['DowngradeRefused']);
  });

  test('does not go down once one container has started, although no member is sealed', () => {
    const observation = starting(3, {
      spec: { version: '3.5.35' },
      slots: { 1: withContainer({ everStarted: true }) },
    });
    assert.equal(version(observation), '3.6.16');
  });

  test('is the highest of what runs and ran', () => {
    const observation = healthy(3, {
      slots: {
        0: all(withRecord({ version: '3.5.35' }), withInputs({ version: '3.5.35' })),
        2: withEndpoint(endpoint(2, { version: '3.6.17' })),
      },
    });
    assert.equal(version(observation), '3.6.17');
  });
});

describe('what else cannot be done', () => {
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
    ['born, and none are wanted: what there is', healthy(3, { spec: { replicas: 0 } }), 3],
  ] as const) {
    test(what, () => assert.equal(situate(observation).effective.replicas, expected));
  }

  test('born, with a stray volume of a birth that never happened: the stray is not a member', () => {
    const stray = prepared(4).slots[3] ?? assert.fail();
    const observation = healthy(3, {
      spec: { replicas: 0 },
      more: [all(without('peer', 'configMap'), withRecord({ token: 'another' }), withVolume({ bound: false }))(stray)],
    });
    assert.equal(situate(observation).effective.replicas, 3);
  });
});
