import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { defragmented } from '../../../reconcile/cluster/know/marks.ts';
import type { Slot } from '../../../reconcile/cluster/know/observation.ts';
import { quotaFlagOf } from '../../../reconcile/cluster/know/space/databases.ts';
import { readDefragmented, withDefragmented } from '../../../reconcile/cluster/know/space/defragmented.ts';
import {
  all,
  clusterId,
  type Differences,
  endpoint,
  healthy,
  memberId,
  silent,
  withEndpoint,
  withInputs,
  withPod,
} from './observations.ts';

const MiB = 2 ** 20;

/** Its database, in MiB. */
function database(size: number, used: number) {
  return (slot: Slot): Slot =>
    withEndpoint(endpoint(slot.ordinal, { dbSize: BigInt(size * MiB), dbSizeInUse: BigInt(used * MiB) }))(slot);
}

function asked(seconds: number, vain = 0) {
  const at = new Date(Date.parse('2026-01-02T03:04:05Z') - seconds * 1000);
  return (slot: Slot): Slot => (slot.peer ? { ...slot, peer: { ...slot.peer, defragmented: { at, vain } } } : slot);
}

const large = database(1000, 100);

describe('a database file that has grown far beyond what is in it', () => {
  test('is given back: followers first, the leader last, after it has handed over', () => {
    const first = decide(healthy(3, { every: large }));
    assert.partialDeepStrictEqual(first, {
      reason: 'Defragmenting',
      action: { kind: 'defragment-member', name: 'orders-1', memberId: memberId(1), clusterId, size: 1000 * MiB },
    });
    const last = decide(healthy(3, { every: asked(60), slots: { 0: all(large), 1: large, 2: large } }));
    assert.equal(last.reason, 'Converged', 'all were asked a minute ago');
    const leader = decide(healthy(3, { slots: { 0: large } }));
    assert.partialDeepStrictEqual(leader, {
      action: { name: 'orders-0', successor: { clusterId, name: 'orders-1', memberId: memberId(1) } },
    });
  });

  test('of a cluster of one is given back too, and the step says that it does not serve meanwhile', () => {
    const decision = decide(healthy(1, { slots: { 0: large } }));
    assert.partialDeepStrictEqual(decision, { action: { kind: 'defragment-member', name: 'orders-0' } });
    assert.ok(decision.kind === 'act' && !('successor' in decision.action));
    assert.match(decision.message, /no other member answers meanwhile/);
  });

  for (const [size, used, spec, pays] of [
    [512, 256, {}, true],
    [512, 257, {}, false],
    [510, 255, {}, false],
    [512, 1, { mode: 'Disabled' }, false],
    [10, 1, { minReclaim: '4Mi' }, true],
    [100, 51, { minReclaim: '4Mi' }, false],
    [100, 51, { minReclaim: '4Mi', maxUsedPercent: 60 }, true],
    [10_000, 6000, { minReclaim: 0, maxUsedPercent: 50 }, false],
    [10, 10, { minReclaim: 0, maxUsedPercent: 100 }, false],
  ] as const) {
    test(`${size} MiB, of which ${used} are used, ${JSON.stringify(spec)}: ${pays ? 'pays' : 'does not pay'}`, () => {
      const { reason } = decide(healthy(3, { spec: { defragmentation: spec }, every: database(size, used) }));
      assert.equal(reason, pays ? 'Defragmenting' : 'Converged');
    });
  }

  test('waits for everything else: an ill member, a configuration to roll, a suspension', () => {
    for (const differences of [
      { slots: { 1: large, 2: withPod({ ready: false }) } },
      { slots: { 1: large, 2: withEndpoint(silent) } },
      { slots: { 1: large, 2: withInputs({ etcd: { snapshotCount: 5000 } }) } },
      { slots: { 1: large }, spec: { suspend: true } },
    ]) {
      assert.notEqual(decide(healthy(3, differences)).reason, 'Defragmenting');
    }
  });

  test('is asked for no more than once in an hour, whatever came of it', () => {
    for (const vain of [0, 1, 7]) {
      assert.equal(decide(healthy(3, { slots: { 1: all(large, asked(3599, vain)) } })).reason, 'Converged');
      assert.equal(decide(healthy(3, { slots: { 1: all(large, asked(3601, vain)) } })).reason, 'Defragmenting');
    }
  });
});

describe('a person who asks for it by an annotation', () => {
  const small = database(10, 9);
  const requested = (value: string) => ({ metadata: { annotations: { 'etcd.ratchet.dev/defragment': value } } });
  const now = '2026-01-02T03:04:05Z';
  const reasonFor = (value: string, differences: Differences = {}) =>
    decide(healthy(3, { every: small, ...requested(value), ...differences })).reason;

  test('gets each member once, the leader last, whatever it frees, also where the mode is Disabled', () => {
    const spec = { defragmentation: { mode: 'Disabled' } } as const;
    const nameOf = (...done: readonly number[]) => {
      const slots = Object.fromEntries(done.map((ordinal) => [ordinal, all(small, asked(0, 1))]));
      const decision = decide(healthy(3, { spec, every: small, slots, ...requested(now) }));
      return decision.kind === 'act' && decision.action.kind === 'defragment-member' ? decision.action.name : undefined;
    };
    assert.deepEqual(
      [nameOf(), nameOf(1), nameOf(1, 2), nameOf(0, 1, 2)],
      ['orders-1', 'orders-2', 'orders-0', undefined],
    );
  });

  test('gets it also of members that did it within the hour, but not of those that did it since', () => {
    assert.equal(reasonFor(now, { every: all(small, asked(1)) }), 'Defragmenting');
    assert.equal(reasonFor(now, { every: all(small, asked(0)) }), 'Converged');
  });

  test('waits for every member to be well, for the windows and for the room of its fleet', () => {
    assert.notEqual(reasonFor(now, { slots: { 2: withEndpoint(silent) } }), 'Defragmenting');
    assert.notEqual(reasonFor(now, { slots: { 2: withPod({ ready: false }) } }), 'Defragmenting');
    assert.equal(reasonFor(now, { spec: { suspend: true } }), 'Suspended');
    assert.equal(reasonFor(now, { spec: { maintenance: { windows: [] } } }), 'OutsideWindows');
    const crowded = { ...healthy(3, { every: small, ...requested(now) }), crowdedBy: ['shop/other'] };
    assert.equal(decide(crowded).reason, 'WaitingForRoom');
  });

  for (const [value, reason] of [
    ['2026-01-02T03:04:05.000+00:00', 'Defragmenting'],
    ['2026-01-02T05:04:05+02:00', 'Defragmenting'],
    ['2026-01-02T03:04:06Z', 'Converged'],
    ['2026-02-06T03:04:05Z', 'Converged'],
    ['2026-02-06T03:04:06Z', 'InvalidRequest'],
    ['2025-11-28T03:04:05Z', 'Defragmenting'],
    ['2025-11-28T03:04:04Z', 'Converged'],
    ['', 'InvalidRequest'],
    ['now', 'InvalidRequest'],
    ['true', 'InvalidRequest'],
    ['1767323045', 'InvalidRequest'],
    ['2026-01-02', 'InvalidRequest'],
    ['2026-13-02T03:04:05Z', 'InvalidRequest'],
    ['2025-12-32T03:04:05Z', 'InvalidRequest'],
    ['2025-11-31T03:04:05Z', 'InvalidRequest'],
    ['2026-01-02T03:04:05Z\n', 'InvalidRequest'],
    ['２０２６-01-02T03:04:05Z', 'InvalidRequest'],
    ['+275760-09-13T00:00:00Z', 'InvalidRequest'],
    ['2026-01-02T03:04:05Z'.repeat(10_000), 'InvalidRequest'],
  ] as const) {
    test(`the value ${JSON.stringify(value.slice(0, 40))} comes to ${reason}`, () => {
      assert.equal(reasonFor(value), reason);
    });
  }

  test('is told of a value that is no time, without the value, and nothing is held up', () => {
    const said = decide(healthy(3, { every: small, ...requested('\u001b[2J soon') }));
    assert.ok(said.kind === 'refuse');
    assert.match(said.message, /etcd\.ratchet\.dev\/defragment is no time like 2026-01-02T03:04:05Z/);
    assert.doesNotMatch(said.message, /soon/);
    assert.match(said.cure, /kubectl ratchet -n shop defrag orders/);
    assert.equal(reasonFor('soon', { spec: { replicas: 5 } }), 'PreparingMember');
    assert.equal(reasonFor('soon', { slots: { 1: large } }), 'Defragmenting');
  });
});

describe('what a peer remembers of it', () => {
  const peer = { metadata: { name: 'orders-1', annotations: { other: 'stays' } } } as unknown as EtcdPeer;

  test('is read as it was written, and nothing else of the peer changes', () => {
    const mark = { at: new Date('2026-01-02T03:04:05.678Z'), vain: 2 };
    const written = withDefragmented(peer, mark);
    assert.deepEqual(readDefragmented(written), mark);
    assert.equal(written.metadata.annotations?.other, 'stays');
  });

  for (const text of [
    '',
    'yesterday 1',
    '2026-01-02T03:04:05Z',
    '2026-01-02T03:04:05Z -1',
    '2026-01-02T03:04:05Z many',
  ]) {
    test(`is nothing where the annotation says ${JSON.stringify(text)}`, () => {
      assert.equal(
        readDefragmented({ ...peer, metadata: { annotations: { [defragmented]: text } } } as unknown as EtcdPeer),
        undefined,
      );
    });
  }
});

test('the quota of a pod is what its flag says', () => {
  const pod = (...args: string[]) => ({ metadata: { name: 'a' }, spec: { containers: [{ name: 'etcd', args }] } });
  assert.equal(quotaFlagOf(pod('--name=a', '--quota-backend-bytes=16777216')), 16777216);
  assert.equal(quotaFlagOf(pod('--name=a')), undefined);
});
