import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import {
  all,
  clusterId,
  endpoint,
  healthy,
  noQuorum,
  prepared,
  silent,
  withEndpoint,
  withInputs,
  without,
  withPod,
} from './observations.ts';

const outdated = withPod({ upToDate: 'no' });

describe('a member that runs on an older template than it should', () => {
  test('is evicted when all others are healthy', () => {
    assert.partialDeepStrictEqual(decide(healthy(3, { slots: { 1: outdated } })), {
      action: { kind: 'restart-member', pod: { name: 'orders-1', uid: 'pod-1' }, by: 'eviction' },
    });
  });

  test('hands over to the healthy voter that has the most of the log, in case it leads', () => {
    const ahead = withEndpoint(endpoint(2, { raftAppliedIndex: 1001n }));
    assert.partialDeepStrictEqual(decide(healthy(3, { slots: { 0: outdated, 2: ahead } })), {
      action: { pod: { name: 'orders-0' }, successor: { clusterId, name: 'orders-2', memberId: 'a2' } },
    });
    const alone = decide(healthy(1, { slots: { 0: outdated } }));
    assert.ok(alone.kind === 'act' && !('successor' in alone.action), 'nobody else could lead');
  });

  test('is deleted where no budget could ever allow it, and that is said', () => {
    for (const size of [1, 2]) {
      const decision = decide(healthy(size, { slots: { 0: outdated } }));
      assert.partialDeepStrictEqual(decision, { action: { kind: 'restart-member', by: 'deletion' } });
      assert.match(decision.message, /does not serve/);
    }
  });

  test('is one of several: one at a time, and the leader last', () => {
    assert.partialDeepStrictEqual(decide(healthy(3, { every: outdated })), {
      action: { kind: 'restart-member', pod: { name: 'orders-1' } },
    });
  });

  test('stays while another one is down, or while there is no quorum', () => {
    const down = all(withPod({ ready: false }), withEndpoint(silent));
    assert.notEqual(decide(healthy(3, { slots: { 1: outdated, 2: down } })).kind, 'act');
    assert.notEqual(decide(healthy(3, { slots: { 1: outdated }, membership: noQuorum('down') })).kind, 'act');
  });

  test('stays beside a voter without objects: no eviction gets through, and a person is asked', () => {
    const decision = decide(healthy(3, { slots: { 0: outdated }, gone: [1] }));
    assert.partialDeepStrictEqual(decision, { kind: 'refuse', reason: 'UnknownMember' });
    assert.ok(decision.kind === 'refuse' && decision.cure.includes('etcdctl member remove a1'));
  });
});

test('before the first start of a birth, peers get what the spec now asks for', () => {
  const older = withInputs({ version: '3.5.35' });
  const decision = decide(prepared(3, { every: older }));
  assert.equal(decision.reason, 'UpdatingPeers');
  assert.partialDeepStrictEqual(decision, {
    action: { kind: 'reconfigure-members', inputs: { version: '3.6.16' } },
  });
  assert.equal(decide(prepared(3)).reason, 'StartingMembers');
  const newer = withInputs({ version: '3.7.3' });
  assert.equal(decide(prepared(3, { every: newer })).reason, 'StartingMembers', 'it may have run: never down');
});

test('a member that lost its volume before the first start is left out, or all would wait', () => {
  const older = withInputs({ version: '3.5.35' });
  const decision = decide(prepared(3, { every: older, slots: { 0: all(older, without('volume')) } }));
  assert.equal(decision.reason, 'UpdatingPeers');
  const { action } = decision.kind === 'act' ? decision : {};
  const given = action?.kind === 'reconfigure-members' ? action.peers.map(({ name }) => name) : [];
  assert.deepEqual(given, ['orders-1', 'orders-2']);
});
