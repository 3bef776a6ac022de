import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide } from '../../../reconcile/cluster/decide.ts';
import { volumesFinalizer } from '../../../reconcile/cluster/marks.ts';
import type { Slot } from '../../../reconcile/cluster/observation.ts';
import { all, crashing, healthy, prepared, unborn, without } from './observations.ts';

describe('a cluster that is to be left alone', () => {
  const paused = { annotations: { 'etcd.ratchet.dev/paused': '' } };
  for (const [state, observation] of [
    ['unborn', unborn],
    ['in birth', prepared],
    ['healthy', healthy],
  ] as const) {
    test(`${state} and suspended in the spec, nothing is done`, () => {
      assert.partialDeepStrictEqual(decide(observation(3, { spec: { suspend: true } })), {
        kind: 'done',
        reason: 'Suspended',
      });
    });
    test(`${state} and paused by an annotation, even an empty one, nothing is done`, () => {
      assert.partialDeepStrictEqual(decide(observation(3, { metadata: paused })), { kind: 'done', reason: 'Paused' });
    });
  }

  test('is not healed either', () => {
    assert.equal(decide(healthy(3, { metadata: paused, every: crashing })).reason, 'Paused');
  });
});

describe('what a deleted namesake left', () => {
  const old =
    (key: 'peer' | 'configMap' | 'statefulSet', change: { current?: boolean; leaving?: boolean }) => (slot: Slot) =>
      ({ ...slot, [key]: { ...slot[key], ...change } }) as Slot;

  for (const key of ['peer', 'configMap', 'statefulSet'] as const) {
    test(`a ${key} of another owner is waited for`, () => {
      assert.equal(decide(healthy(3, { slots: { 1: old(key, { current: false }) } })).reason, 'OldObjectsLeaving');
    });
    test(`a ${key} that is being deleted is waited for`, () => {
      assert.equal(decide(healthy(3, { slots: { 1: old(key, { leaving: true }) } })).reason, 'OldObjectsLeaving');
    });
  }

  test('a pod without peer and StatefulSet is waited for', () => {
    const every = without('peer', 'configMap', 'statefulSet');
    assert.equal(decide(healthy(3, { every })).reason, 'OldObjectsLeaving');
  });

  test('volumes are not leftovers: they are taken up', () => {
    const every = all(without('peer', 'configMap', 'statefulSet', 'pod'));
    assert.equal(decide(healthy(3, { every })).reason, 'AdoptingVolumes');
  });

  for (const kind of ['headlessService', 'clientService', 'disruptionBudget'] as const) {
    test(`a ${kind} is waited for`, () => {
      assert.equal(decide(unborn(3, { shared: { [kind]: { state: 'leftover' } } })).reason, 'OldObjectsLeaving');
    });
  }
});

describe('the finalizer', () => {
  const deleting = { volumeRetention: { whenDeleted: 'Delete' } } as const;
  for (const [what, observation, present] of [
    ['is set where volumes are to go', healthy(3, { spec: deleting }), true],
    ['is taken away where they are to stay', healthy(3, { metadata: { finalizers: [volumesFinalizer] } }), false],
  ] as const) {
    test(what, () =>
      assert.partialDeepStrictEqual(decide(observation), { action: { kind: 'set-finalizer', present } }),
    );
  }

  test('is left as it is where it is right', () => {
    assert.equal(
      decide(healthy(3, { spec: deleting, metadata: { finalizers: [volumesFinalizer] } })).reason,
      'Converged',
    );
    assert.equal(decide(healthy(3, { metadata: { finalizers: ['somebody/else'] } })).reason, 'Converged');
  });
});

test('a claim of somebody else is waited for, by time', () => {
  const decision = decide(healthy(3, { claim: { kind: 'held', holder: 'ns/pod', until: new Date(0) } }));
  assert.partialDeepStrictEqual(decision, { kind: 'wait', reason: 'AnotherInvocationActs', wakeOn: [{ on: 'time' }] });
  assert.match(decision.message, /ns\/pod/);
});

test('a claim that was abandoned is nobody’s: what is to be done is decided anew', () => {
  const claim = {
    kind: 'abandoned',
    holder: 'ns/pod',
    action: { kind: 'start-members', peers: ['orders-0'] },
  } as const;
  assert.equal(decide(healthy(3, { claim })).reason, 'Converged');
});
