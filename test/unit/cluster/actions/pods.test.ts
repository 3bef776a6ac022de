import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ActionOf } from '../../../../reconcile/cluster/know/action.ts';
import type { Observation, Slot } from '../../../../reconcile/cluster/know/observation.ts';
import { all, clusterId, endpoint, healthy, memberId, withEndpoint, withPod } from '../observations.ts';
import { assertStopped, sentBy } from './sent.ts';

/** Each guard of an action by itself: the world is as no rule would begin it, as after the decision it may be. */

const old = withPod({ upToDate: 'no' });
const asIs = (slot: Slot) => slot;
/** Members that all ran the minor above what is asked for: none of them may go back. */
const ranHigher = (observation: Observation): Observation => ({
  ...observation,
  clusterVersion: '3.7.0',
  slots: observation.slots.map(withPod({ version: '3.7.3' })),
});

describe('a member that is started anew', () => {
  const pod = { name: 'orders-1', uid: 'pod-1' };
  const action: ActionOf<'restart-member'> = { kind: 'restart-member', pod, by: 'eviction' };
  const restarting = (change: (slot: Slot) => Slot, differences: Partial<typeof action> = {}) =>
    sentBy({ ...action, ...differences }, healthy(3, { slots: { 1: old, 2: change } }));

  test('is evicted while all others are Ready', () => {
    assert.deepEqual(restarting(asIs).writes, ['evictPod orders-1']);
  });

  test('stays while another one is not Ready, or leaves (I1)', () => {
    for (const change of [withPod({ ready: false }), withPod({ leaving: true })]) {
      assertStopped(restarting(change));
      // The disruption budget would not let an eviction through either.
      assertStopped(restarting(change, { by: 'deletion' }));
    }
  });

  test('waits not for an unready pod where it is cut off, but for one that leaves', () => {
    const cutOff = { cutOff: true, by: 'deletion' } as const;
    assert.deepEqual(restarting(withPod({ ready: false }), cutOff).writes, ['deletePod orders-1']);
    const leaving = restarting(withPod({ leaving: true }), cutOff);
    assertStopped(leaving);
  });

  test('stays where it ran a higher minor, and the cluster may not go back (I6)', () => {
    assertStopped(sentBy(action, ranHigher(healthy(3, { slots: { 1: old } }))));
  });

  test('hands leadership over first, if it leads by now', () => {
    const successor = { name: 'orders-0', memberId: memberId(0), clusterId };
    const leads = all(old, withEndpoint(endpoint(1, { leader: memberId(1) })));
    const { writes } = sentBy({ ...action, successor }, healthy(3, { slots: { 1: leads } }));
    assert.deepEqual(writes, ['moveLeader orders-0', 'evictPod orders-1']);
  });
});

describe('a pod that is made anew', () => {
  const action = { kind: 'recreate-pod', pod: { name: 'orders-1', uid: 'pod-1' } } as const;
  const notReady = withPod({ ready: false });

  test('goes while it is not Ready, and stays once it is (I1)', () => {
    assert.deepEqual(sentBy(action, healthy(3, { slots: { 1: notReady } })).writes, ['deletePod orders-1']);
    assertStopped(sentBy(action, healthy(3)));
  });

  test('stays where it ran a higher minor, and the cluster may not go back (I6)', () => {
    assertStopped(sentBy(action, ranHigher(healthy(3, { slots: { 1: notReady } }))));
  });
});

test('a member that became Ready on an older template keeps its pod when reconfigured (I1)', () => {
  const { slots } = healthy(3);
  const inputs = slots[1]?.peer?.inputs ?? assert.fail();
  const action: ActionOf<'reconfigure-members'> = {
    kind: 'reconfigure-members',
    peers: [{ name: 'orders-1', uid: 'peer-1' }],
    inputs: { ...inputs, etcd: { snapshotCount: 5000 } },
  };
  const written = ['writeInputs orders-1', 'writeTemplate orders-1'];
  assert.deepEqual(sentBy(action, healthy(3, { slots: { 1: old } })).writes, written);
  const down = all(old, withPod({ ready: false }));
  assert.deepEqual(sentBy(action, healthy(3, { slots: { 1: down } })).writes, [...written, 'deletePod orders-1']);
});
