import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partsOf } from '../../../../reconcile/cluster/act/act.ts';
import type { Action } from '../../../../reconcile/cluster/know/action.ts';

test('a part of a sealing that was refused opens no Service: other members are not sealed yet', () => {
  const members = ['orders-0', 'orders-1'].map((name) => ({ name, memberId: 'a0', version: '3.6.16' }));
  const whole: Action = { kind: 'seal-members', clusterId: 'c1', members, opens: true };
  assert.deepEqual(
    partsOf(whole),
    members.map((member) => ({ kind: 'seal-members', clusterId: 'c1', members: [member] })),
  );
});
