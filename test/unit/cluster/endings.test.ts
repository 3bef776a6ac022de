import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { ailmentOf } from '../../../reconcile/cluster/know/health/health.ts';
import type { ContainerExit, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { endedByItself } from '../../../reconcile/cluster/know/pods/endings.ts';
import { lossOf } from '../../../reconcile/cluster/know/recovery/lost.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import {
  all,
  endingAs,
  healthy,
  noQuorum,
  silent,
  waiting,
  withContainer,
  withEndpoint,
  withPod,
} from './observations.ts';

const longDown = {
  status: {
    observedGeneration: 3,
    members: [0, 1].map((n) => ({ name: `orders-${n}`, healthy: false, unhealthySince: '2026-01-01T00:00:00Z' })),
  },
};

function decided(change: (slot: Slot) => Slot) {
  return decide(healthy(3, { slots: { 1: change }, ...longDown }));
}

function ailing(change: (slot: Slot) => Slot) {
  const seen = healthy(3, { slots: { 1: change } });
  return ailmentOf(seen.slots[1] ?? assert.fail(), seen);
}

const anyExit: fc.Arbitrary<ContainerExit> = fc.record({
  code: fc.oneof(fc.constantFrom(0, 1, 2, 126, 127, 128, 134, 135, 137, 139, 143), fc.nat(255)),
  reason: fc.constantFrom(
    'Error',
    'Completed',
    'OOMKilled',
    'StartError',
    'ContainerCannotRun',
    'ContainerStatusUnknown',
    '',
  ),
});

describe('a member whose etcd ends again and again', () => {
  const oom = { code: 137, reason: 'OOMKilled' };

  test('is told of a defect of its version, and of the patch that starts on the same data', () => {
    const crashing = all(endingAs({ code: 2, reason: 'Error' }), (slot: Slot): Slot => {
      const peer = slot.peer ?? assert.fail();
      return { ...slot, peer: { ...peer, inputs: { ...peer.inputs, version: '3.6.3' } } };
    });
    const ailment = ailing(crashing);
    assert.match(ailment?.message ?? '', /etcd 3\.6\.3 must not be used: it makes every member panic/);
    assert.match(ailment?.cure ?? '', /^set spec\.version to 3\.6\.5 or a later patch/);
  });

  test('for want of memory is named with its limit, and never replaced', () => {
    const decision = decided(all(endingAs(oom), withContainer({ memoryLimit: '256Mi' })));
    assert.equal(decision.reason, 'OutOfMemory');
    assert.ok(decision.kind === 'refuse');
    assert.match(decision.message, /256Mi/);
    assert.match(decision.cure, /spec\.resources\.limits\.memory/);
  });

  test('for want of memory is named also in the moment in which it runs', () => {
    const starting = withContainer({ state: 'running', reason: '', memoryLimit: '256Mi' });
    assert.equal(ailing(all(endingAs(oom), starting))?.reason, 'OutOfMemory');
  });

  test('for want of memory of its node, without a limit of its own, gets another cure', () => {
    const decision = decided(endingAs(oom));
    assert.ok(decision.kind === 'refuse');
    assert.match(decision.cure, /spec\.resources\.requests\.memory/);
  });

  for (const [what, exit, reason] of [
    ['by a probe or a signal', { code: 137, reason: 'Error' }, 'MemberKilled'],
    ['as it was told to', { code: 0, reason: 'Completed' }, 'MemberKilled'],
    ['with its node', { code: 137, reason: 'ContainerStatusUnknown' }, 'MemberKilled'],
    ['because its program can not be run', { code: 128, reason: 'StartError' }, 'ContainerCannotStart'],
    ['because the runtime can not run it', { code: 127, reason: 'ContainerCannotRun' }, 'ContainerCannotStart'],
  ] as const) {
    test(`${what} is told as ${reason}, and never replaced`, () => {
      const decision = decided(endingAs(exit));
      assert.deepEqual([decision.kind, decision.reason], ['refuse', reason]);
    });
  }

  test('is replaced where etcd itself gives up, and others run on the same', () => {
    assert.equal(decided(endingAs({ code: 2, reason: 'Error' })).reason, 'ReplacingMember');
  });

  test('is replaced, or counted as lost, for no exit but one of its own', () => {
    fc.assert(
      fc.property(anyExit, fc.nat(9), (exit, restarts) => {
        const ends = all(endingAs(exit), withContainer({ restarts }));
        const { reason } = decided(ends);
        const own = endedByItself({ exit });
        if (!own) assert.ok(!['ReplacingMember', 'RemovingDeadMember'].includes(reason), reason);
        const seen = healthy(3, { slots: { 0: ends, 1: ends }, membership: noQuorum('timed out'), ...longDown });
        if (!own) assert.equal(lossOf(situate(seen)), undefined);
      }),
    );
  });
});

describe('a member that its pod keeps from running', () => {
  test('by an init container that fails is told which one, and not as a member that is starting', () => {
    const beside = { name: 'prepare', reason: 'CrashLoopBackOff', restarts: 5, exit: { code: 3, reason: 'Error' } };
    const decision = decided(all(waiting, withContainer({ reason: 'PodInitializing' }), withPod({ beside })));
    assert.deepEqual([decision.kind, decision.reason], ['refuse', 'OtherContainerFails']);
    assert.match(decision.message, /prepare.*exit code 3/);
  });

  test('by the node, which ended the pod, waits for the next pod', () => {
    const evicted = all(
      withPod({ ready: false, failed: 'Evicted' }),
      withEndpoint(silent),
      endingAs({ code: 137, reason: 'Error' }),
    );
    const decision = decided(evicted);
    assert.deepEqual([decision.kind, decision.reason], ['wait', 'PodEnded']);
    assert.match(decision.message, /Evicted/);
  });
});
