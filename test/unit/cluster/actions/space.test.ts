import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Action } from '../../../../reconcile/cluster/know/action.ts';
import { clusterId, endpoint, healthy, memberId, members, silent, withEndpoint } from '../observations.ts';
import { assertStopped, sentBy } from './sent.ts';

/** Each guard of an action by itself: the world is as no rule would begin it, as after the decision it may be. */

describe('a defragmentation', () => {
  const defragment: Action = {
    kind: 'defragment-member',
    ...{ name: 'orders-1', memberId: memberId(1), clusterId, size: 1, at: '2026-01-02T03:04:05.000Z' },
  };
  const well = healthy(3);

  test('is noted before it is asked for', () => {
    assert.deepEqual(sentBy(defragment, well).writes, ['noteDefragmented orders-1', 'defragment orders-1']);
  });

  for (const [why, observation] of [
    ['another voter does not answer', healthy(3, { slots: { 2: withEndpoint(silent) } })],
    ['another voter knows no leader', healthy(3, { slots: { 2: withEndpoint(endpoint(2, { leader: '0' })) } })],
    ['another cluster answers', healthy(3, { membership: { ...members(3), clusterId: 'feed' } })],
    ['another member runs under its name', healthy(1, { slots: { 0: withEndpoint(endpoint(1)) } })],
  ] as const) {
    test(`is not asked for where ${why}`, () => {
      const name = observation.slots.length === 1 ? 'orders-0' : 'orders-1';
      const action = { ...defragment, name, memberId: memberId(name === 'orders-0' ? 0 : 1) } as Action;
      assertStopped(sentBy(action, observation));
    });
  }

  test('is not asked for where its member does not answer', () => {
    const action = { ...defragment, name: 'orders-0', memberId: memberId(0) } as Action;
    assertStopped(sentBy(action, healthy(1, { slots: { 0: withEndpoint(silent) } })), 'EtcdUnreachable');
  });

  test('of the leader is not asked for where no voter could lead instead', () => {
    const leader = { ...defragment, name: 'orders-0', memberId: memberId(0) } as Action;
    assertStopped(sentBy(leader, well));
  });
});

describe('an alarm', () => {
  const raised = (size: bigint) =>
    healthy(1, { every: withEndpoint(endpoint(0, { errors: ['memberID:160 alarm:NOSPACE '], dbSize: size })) });
  const disarm: Action = { kind: 'disarm-alarm', clusterId, limits: [{ memberId: memberId(0), bytes: 100 }] };

  test('is taken back only where each database is below its limit', () => {
    assert.deepEqual(sentBy(disarm, raised(99n)).writes, ['disarm']);
    assertStopped(sentBy(disarm, raised(100n)));
    assertStopped(sentBy(disarm, healthy(1, { every: withEndpoint(silent) })), 'EtcdUnreachable');
  });

  test('is what history is forgotten for, and nothing else', () => {
    const compact: Action = { kind: 'compact', clusterId, revision: '9' };
    assert.deepEqual(sentBy(compact, raised(1n)).writes, ['compactTo']);
    assertStopped(sentBy(compact, healthy(1)));
  });
});
