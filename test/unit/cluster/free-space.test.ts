import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { Slot } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { statusFor } from '../../../reconcile/cluster/report/status.ts';
import type { EndpointStatus } from '../../../reconcile/interfaces/etcd.ts';
import {
  all,
  clusterId,
  type Differences,
  endpoint,
  healthy,
  memberId,
  members,
  noQuorum,
  silent,
  withContainer,
  withEndpoint,
  withInputs,
  withPod,
} from './observations.ts';

/** What a volume of 1Gi can bear. */
const quota = 256 * 2 ** 20;
const percent = quota / 100;
const at = new Date('2026-01-02T03:04:05Z');

/** Its database, in hundredths of its quota. */
function database(size: number, used = size, more: Partial<EndpointStatus> = {}) {
  const errors = ['memberID:161 alarm:NOSPACE '];
  const sizes = { dbSize: bytes(size), dbSizeInUse: bytes(used) };
  return (slot: Slot): Slot =>
    withPod({ quota })(withEndpoint(endpoint(slot.ordinal, { ...sizes, errors, ...more }))(slot));
}

/** It was rewritten when nothing was left to forget, at the revision that etcd is at still: it tells the truth. */
function truthful(slot: Slot): Slot {
  const defragmented = { at: new Date(at.getTime() - 3600_000), vain: 1, bareAt: 10n };
  return slot.peer ? { ...slot, peer: { ...slot.peer, defragmented } } : slot;
}

function bytes(hundredths: number): bigint {
  return BigInt(Math.round(hundredths * percent));
}

/** Its member was asked to defragment, so many seconds ago. */
function asked(seconds: number, vain: number) {
  const defragmented = { at: new Date(at.getTime() - seconds * 1000), vain };
  return (slot: Slot): Slot => (slot.peer ? { ...slot, peer: { ...slot.peer, defragmented } } : slot);
}

function decided(differences: Differences, more: { readonly hasHistory?: boolean } = {}) {
  return decide({ ...healthy(3, differences), ...more });
}

const disarm = { kind: 'disarm-alarm', clusterId };
const down = all(withPod({ ready: false }), withContainer({ state: 'waiting' }), withEndpoint(silent));
const full = { every: database(100, 99) };

describe('etcd is out of space', () => {
  test('history is forgotten, up to the present, where the databases have no room', () => {
    const decision = decided({ every: database(100, 99, { revision: 4711n }) }, { hasHistory: true });
    assert.equal(decision.reason, 'NoSpace');
    assert.deepEqual(decision.kind === 'act' && decision.action, { kind: 'compact', clusterId, revision: '4711' });
  });

  test('no history is lost where free pages alone make enough room', () => {
    const decision = decided({ every: database(100, 80) }, { hasHistory: true });
    assert.partialDeepStrictEqual(decision, { action: { kind: 'defragment-member', name: 'orders-1' } });
  });

  test('followers are defragmented first, the leader last, after it has handed over', () => {
    const first = decided({ every: database(100, 20) });
    assert.partialDeepStrictEqual(first, {
      reason: 'NoSpace',
      action: {
        kind: 'defragment-member',
        name: 'orders-1',
        memberId: memberId(1),
        clusterId,
        size: quota,
        at: at.toISOString(),
        successor: { clusterId },
      },
    });
    const second = decided({ every: database(100, 20), slots: { 1: database(20) } });
    assert.partialDeepStrictEqual(second, { action: { name: 'orders-2' } });
    const third = decided({ every: database(20), slots: { 0: database(100, 20) } });
    assert.partialDeepStrictEqual(third, { action: { name: 'orders-0', successor: { name: 'orders-1' } } });
  });

  test("one member that knows the content's size is enough: others learn it with a write", () => {
    const decision = decided({ every: database(100, 99), slots: { 0: database(100, 20) } }, { hasHistory: false });
    assert.partialDeepStrictEqual(decision, { action: { kind: 'defragment-member', name: 'orders-1' } });
  });

  test('one that is behind knows nothing about that', () => {
    const behind = database(20, 20, { revision: 9n });
    assert.partialDeepStrictEqual(decided({ ...full, slots: { 1: behind } }, { hasHistory: true }), {
      action: { kind: 'compact' },
    });
  });

  test('the alarm is taken back when every database is well below its quota', () => {
    const decision = decided({ every: database(89) });
    assert.partialDeepStrictEqual(decision, { reason: 'NoSpace', action: disarm });
    const limits = [0, 1, 2].map((ordinal) => ({ memberId: memberId(ordinal), bytes: Math.floor(0.9 * quota) }));
    assert.deepEqual(
      decision.kind === 'act' &&
        decision.action.kind === 'disarm-alarm' &&
        decision.action.limits.toSorted((a, b) => (a.memberId < b.memberId ? -1 : 1)),
      limits,
    );
    const one = decided({ every: database(50), slots: { 1: database(91) } });
    assert.ok(one.kind !== 'act' || one.action.kind !== 'disarm-alarm', 'one is not');
  });

  test('the quota is the one that the pod has, not the one that its peer says', () => {
    const raised = all(database(95), withPod({ quota: 2 * quota }));
    assert.partialDeepStrictEqual(decided({ every: raised }), { action: disarm });
    const older = decided({ every: raised, slots: { 1: database(95) } }, { hasHistory: false });
    assert.ok(older.kind !== 'act' || older.action.kind !== 'disarm-alarm');
  });

  for (const [who, differences] of [
    ['a member is down', { ...full, slots: { 2: down } }],
    [
      'a pod is older than its template',
      { every: database(20), slots: { 2: all(database(20), withPod({ upToDate: 'no' })) } },
    ],
    ['the data of a member are wrong', { every: database(100, 20, { errors: ['alarm:NOSPACE', 'alarm:CORRUPT'] }) }],
    ['there is no quorum', { ...full, membership: noQuorum('down') }],
    [
      'somebody is on the list whom nobody knows',
      {
        ...full,
        membership: {
          ...members(3),
          members: [...members(3).members, { id: 'bad', name: 'x', peerURLs: [], clientURLs: [], isLearner: false }],
        },
      },
    ],
  ] as const satisfies readonly (readonly [string, Differences])[]) {
    test(`nothing is done about it while ${who}`, () => {
      const decision = decided(differences, { hasHistory: true });
      const kind = decision.kind === 'act' ? decision.action.kind : decision.kind;
      assert.ok(!['compact', 'defragment-member', 'disarm-alarm'].includes(kind), kind);
      assert.notEqual(decision.kind, 'done');
    });
  }

  test('is told also where nothing is to be done about it: a suspended cluster is not Ready', () => {
    const observation = healthy(3, { ...full, spec: { suspend: true } });
    const decision = decide(observation);
    assert.equal(decision.reason, 'Suspended');
    const { conditions } = statusFor(situate(observation), decision, { kind: 'none' });
    assert.partialDeepStrictEqual(
      conditions?.find(({ type }) => type === 'Ready'),
      { status: 'False' },
    );
  });

  test('what is not known is asked again', () => {
    assert.partialDeepStrictEqual(decided(full), { kind: 'wait', reason: 'NoSpace' });
  });
});

describe('a member that was asked to defragment', () => {
  const small: Differences = { every: database(20) };

  test('is waited for while it does not answer, though it may be taken for dead', () => {
    for (const membership of [members(3), noQuorum('down')]) {
      const decision = decided({ ...small, membership, slots: { 1: all(asked(30, 1), withEndpoint(silent)) } });
      assert.partialDeepStrictEqual(decision, { kind: 'wait', reason: 'NoSpace' });
      assert.match(decision.message, /no writes: orders-1 was asked/);
    }
  });

  test('is waited for also when etcd has space', () => {
    const decision = decided({ slots: { 1: all(asked(30, 1), withEndpoint(silent)) } });
    assert.partialDeepStrictEqual(decision, { kind: 'wait', reason: 'Defragmenting' });
  });

  for (const [when, differences] of [
    ['that was too long ago', { slots: { 1: all(asked(121, 1), withEndpoint(silent)) } }],
    ['it has gained since', { slots: { 1: all(asked(30, 0), withEndpoint(silent)) } }],
    ['its container does not run', { slots: { 1: all(asked(30, 1), down) } }],
    ['another one is silent too', { slots: { 1: all(asked(30, 1), withEndpoint(silent)), 2: down } }],
  ] as const satisfies readonly (readonly [string, Differences])[]) {
    test(`is not waited for when ${when}`, () => {
      assert.doesNotMatch(decided(differences).message, /was asked/);
    });
  }

  test('is waited for while it answers and is as large as before, and no other member is asked', () => {
    const decision = decided({ every: database(100, 20), slots: { 1: all(database(100, 20), asked(30, 1)) } });
    assert.partialDeepStrictEqual(decision, { kind: 'wait', reason: 'NoSpace' });
  });

  test('is asked once more, and then not for a while: others are, and a person is told', () => {
    const vain = (seconds: number, count: number) => all(database(100, 20), asked(seconds, count));
    const again = decided({ every: database(20), slots: { 1: vain(121, 1) } });
    assert.partialDeepStrictEqual(again, { action: { kind: 'defragment-member', name: 'orders-1' } });
    const others = decided({ every: database(100, 20), slots: { 1: vain(121, 2) } });
    assert.partialDeepStrictEqual(others, { action: { kind: 'defragment-member', name: 'orders-2' } });
    const told = decided({ every: database(20), slots: { 1: vain(121, 2) } });
    assert.partialDeepStrictEqual(told, { kind: 'refuse', reason: 'NoSpace' });
    assert.match(told.message, /orders-1 was defragmented and has not become smaller/);
    const later = decided({ every: database(20), slots: { 1: vain(601, 2) } });
    assert.partialDeepStrictEqual(later, { action: { kind: 'defragment-member', name: 'orders-1' } });
  });
});

describe('the data themselves fill the quota', () => {
  const filled: Differences = { every: database(99), slots: { 2: all(database(99), truthful) } };
  const none = { hasHistory: false };

  test('a person is told which quota, and what to do; nothing is compacted or defragmented again', () => {
    const decision = decided(filled, none);
    assert.partialDeepStrictEqual(decision, { kind: 'refuse', reason: 'NoSpace' });
    assert.match(decision.message, /the data of orders fill its quota of 256Mi/);
    assert.match(
      decision.kind === 'refuse' ? decision.cure : '',
      /quotaBackendBytes.*spec\.storage\.size.*delete keys/,
    );
  });

  test('what else wants a person is told with it, for nothing below is reached', () => {
    const unlabelled = withPod({ unlabelled: true });
    const decision = decided({ ...filled, slots: { ...filled.slots, 0: all(database(99), unlabelled) } }, none);
    assert.equal(decision.reason, 'NoSpace');
    assert.deepEqual(
      decision.besides?.map(({ reason }) => reason),
      ['PodUnlabelled'],
    );
  });

  test('also where they leave a little, which would be used up at once', () => {
    for (const hundredths of [88, 90]) {
      const decision = decided({ every: all(database(91, hundredths), truthful) }, none);
      assert.equal(decision.kind, 'refuse', `${hundredths} of a hundred`);
    }
  });

  test('is said only after a file was rewritten: until then etcd may count free pages as used', () => {
    const older = { at: new Date(at.getTime() - 3600_000), vain: 0, bareAt: 9n };
    const stale = (slot: Slot): Slot => (slot.peer ? { ...slot, peer: { ...slot.peer, defragmented: older } } : slot);
    for (const every of [database(99), all(database(99), stale)]) {
      assert.partialDeepStrictEqual(decided({ every }, none), {
        reason: 'NoSpace',
        action: { kind: 'defragment-member', name: 'orders-1', bareAt: '10' },
      });
    }
    const failing = { every: database(99), slots: { 1: all(database(99), asked(121, 2)) } };
    assert.partialDeepStrictEqual(decided(failing, none), { action: { name: 'orders-2' } });
  });

  test('one that tells the truth is enough: the others give back what it shows to be free', () => {
    const slots = { 1: all(database(30, 30), truthful) };
    assert.partialDeepStrictEqual(decided({ every: database(99), slots }, none), { action: { name: 'orders-2' } });
  });

  test('what is free in a file beyond that is given back all the same', () => {
    assert.partialDeepStrictEqual(decided({ every: database(99, 88) }, none), {
      action: { kind: 'defragment-member', name: 'orders-1' },
    });
  });

  test('a larger quota in the spec is rolled, one member at a time', () => {
    const etcd = { quotaBackendBytes: '512Mi' };
    const first = decided({ ...filled, spec: { etcd } }, none);
    assert.partialDeepStrictEqual(first, {
      reason: 'NoSpace',
      action: { peer: { name: 'orders-1' }, inputs: { etcd } },
    });
    const raised = all(database(99), withInputs({ etcd }), withPod({ quota: 512 * 2 ** 20 }));
    const last = decided({ spec: { etcd }, every: raised, slots: { 0: database(99) } }, none);
    assert.partialDeepStrictEqual(last, { action: { kind: 'change-template', peer: { name: 'orders-0' } } });
    assert.partialDeepStrictEqual(decided({ spec: { etcd }, every: raised }, none), { action: disarm });
  });

  test('a larger volume makes a larger quota, one member at a time, the leader last', () => {
    const grown = (slot: Slot): Slot =>
      slot.peer && slot.volume
        ? {
            ...slot,
            volume: { ...slot.volume, size: '4Gi' },
            peer: { ...slot.peer, inputs: { ...slot.peer.inputs, storage: { size: '4Gi' } } },
          }
        : slot;
    const spec = { storage: { size: '4Gi' } };
    const decision = decided({ spec, every: all(database(99), grown) }, none);
    assert.partialDeepStrictEqual(decision, {
      reason: 'NoSpace',
      action: { kind: 'change-template', peer: { name: 'orders-1' }, inputs: { storage: { size: '4Gi' } } },
    });
    const raised = all(database(99), grown, withPod({ quota: 1792 * 2 ** 20 }));
    const last = decided({ spec, every: raised, slots: { 0: all(database(99), grown) } }, none);
    assert.partialDeepStrictEqual(last, { action: { kind: 'change-template', peer: { name: 'orders-0' } } });
    assert.partialDeepStrictEqual(decided({ spec, every: raised }, none), { action: disarm });
  });

  test('new history is compacted now and then: expiring keys keep nothing else from its turn', () => {
    const compacted = (seconds: number) => ({
      observedGeneration: 3,
      history: [
        {
          at: new Date(at.getTime() - seconds * 1000).toISOString(),
          action: 'compact',
          reason: 'NoSpace',
          message: 'compacted',
          outcome: 'acted' as const,
        },
      ],
    });
    assert.equal(decided({ ...filled, status: compacted(30) }, { hasHistory: true }).kind, 'refuse');
    assert.partialDeepStrictEqual(decided({ ...filled, status: compacted(61) }, { hasHistory: true }), {
      action: { kind: 'compact' },
    });
  });
});
