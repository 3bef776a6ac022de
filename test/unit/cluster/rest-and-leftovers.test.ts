import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { volumesFinalizer } from '../../../reconcile/cluster/know/marks.ts';
import type { Slot } from '../../../reconcile/cluster/know/observation.ts';
import {
  all,
  crashing,
  healthy,
  noQuorum,
  prepared,
  silent,
  unborn,
  withEndpoint,
  without,
  withPod,
} from './observations.ts';

function podOf(size: number) {
  return healthy(size).slots[0]?.pod ?? assert.fail();
}

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

  describe('of one member of a cluster that is born', () => {
    const volumeOnly = all(without('peer', 'configMap', 'statefulSet', 'pod'), withEndpoint(silent));
    const onDeadNode = all(
      without('peer', 'configMap', 'statefulSet'),
      withPod({ leaving: true, ready: false, node: 'node-c', endsBy: new Date('2026-01-01T00:00:00Z') }),
      withEndpoint(silent),
    );
    const since = (unhealthySince: string) => ({
      status: { observedGeneration: 3, members: [{ name: 'orders-2', healthy: false, unhealthySince }] },
    });
    const now = since('2026-01-02T03:04:05Z');
    const longAgo = since('2026-01-02T01:04:05Z');
    const down = noQuorum('no member runs');

    test('the others are adopted: two sound volumes are a quorum', () => {
      const slots = { 0: volumeOnly, 1: volumeOnly, 2: onDeadNode };
      const decision = decide(healthy(3, { slots, membership: down }));
      assert.equal(decision.reason, 'AdoptingVolumes');
      const { action } = decision.kind === 'act' ? decision : assert.fail(decision.kind);
      const adopted = action.kind === 'prepare-members' && action.members.map(({ name }) => name);
      assert.deepEqual(adopted, ['orders-0', 'orders-1']);
    });

    test('the others are started, and it is not, though its peer is there still', () => {
      const stopped = all(without('statefulSet', 'pod'), withEndpoint(silent));
      const held = all(stopped, old('peer', { current: false }));
      const decision = decide(healthy(3, { slots: { 0: stopped, 1: stopped, 2: held }, membership: down }));
      const action = decision.kind === 'act' && decision.action;
      assert.deepEqual(action, { kind: 'start-members', peers: ['orders-0', 'orders-1'] });
    });

    test('a member is waited for while the others serve, and replaced beyond its grace', () => {
      assert.equal(decide(healthy(3, { slots: { 2: onDeadNode }, ...now })).reason, 'MemberDown');
      assert.equal(decide(healthy(3, { slots: { 2: onDeadNode }, ...longAgo })).reason, 'ReplacingMember');
    });

    test('a pod that still runs is named with its node, and what to do, beyond its grace', () => {
      const runs = all(without('peer', 'configMap', 'statefulSet'), withPod({ node: 'node-c' }));
      assert.equal(decide(healthy(3, { slots: { 2: runs }, ...now })).reason, 'OldObjectsLeaving');
      const decision = decide(healthy(3, { slots: { 2: runs }, ...longAgo }));
      assert.equal(decision.reason, 'OldObjectsStay');
      assert.match(decision.message, /orders-2-0 on node node-c/);
      assert.match(decision.kind === 'refuse' ? decision.cure : '', /kubectl -n shop delete pod orders-2-0/);
    });

    test('without a quorum of the others the dead node is named, and what to do', () => {
      const starts = all(withPod({ ready: false }), withEndpoint(silent));
      const decision = decide(healthy(3, { slots: { 1: starts, 2: onDeadNode }, membership: down, ...longAgo }));
      assert.equal(decision.reason, 'PodStays');
      assert.match(decision.message, /orders-2-0 on node node-c/);
      assert.match(decision.kind === 'refuse' ? decision.cure : '', /kubectl taint nodes node-c/);
    });

    test('a foreign object of one does not stop the healing of another', () => {
      const foreign = (slot: Slot): Slot => ({
        ...slot,
        ...(slot.statefulSet && { statefulSet: { ...slot.statefulSet, current: false, foreign: true } }),
      });
      const lost = all(without('volume', 'pod'), withEndpoint(silent));
      assert.equal(decide(healthy(5, { slots: { 4: foreign } })).reason, 'NameTaken');
      assert.equal(decide(healthy(5, { slots: { 2: lost, 4: foreign }, ...longAgo })).reason, 'ReplacingMember');
    });
  });

  test('a birth waits for all of them, and says which pod stays, on which node, and what to do', () => {
    const held = (endsBy: string) => ({
      slots: {
        2: (slot: Slot): Slot => ({
          ...slot,
          pod: { ...podOf(1), leaving: true, ready: false, node: 'node-c', endsBy: new Date(endsBy) },
          ...(slot.peer && { peer: { ...slot.peer, current: false } }),
        }),
      },
    });
    assert.equal(decide(prepared(3, held('2026-01-02T03:04:00Z'))).reason, 'OldObjectsLeaving');
    const decision = decide(prepared(3, held('2026-01-02T03:00:00Z')));
    assert.equal(decision.reason, 'PodStays');
    assert.match(decision.message, /orders-2-0 on node node-c/);
    assert.match(decision.kind === 'refuse' ? decision.cure : '', /kubectl taint nodes node-c/);
  });

  for (const kind of ['headlessService', 'clientService', 'disruptionBudget', 'networkPolicy'] as const) {
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

test('a lease of another invocation is waited for, by time', () => {
  const decision = decide(healthy(3, { lease: { kind: 'held', holder: 'ns/pod', until: new Date(0) } }));
  assert.partialDeepStrictEqual(decision, { kind: 'wait', reason: 'AnotherInvocationActs', wakeOn: [{ on: 'time' }] });
  assert.match(decision.message, /ns\/pod/);
});

test('an abandoned lease counts for nothing: the step is decided anew', () => {
  const lease = {
    kind: 'abandoned',
    holder: 'ns/pod',
    action: { kind: 'start-members', peers: ['orders-0'] },
  } as const;
  assert.equal(decide(healthy(3, { lease })).reason, 'Converged');
});
