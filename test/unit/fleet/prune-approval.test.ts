import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longestFleetApprovalText } from '../../../manifests/api/approval.ts';
import { pruneApproval } from '../../../reconcile/fleet/unlisted.ts';

test('a prune of a hundred is approved by its count, by whole names, and by how many others', () => {
  const keys = Array.from({ length: 100 }, (_, n) => `EtcdCluster payments/orders-of-a-long-name-${n}`);
  const kept = keys.map((key) => ({ key, because: 'NeedsConfirmation' as const }));
  const { approves } =
    pruneApproval({ kept, notes: [], confirmation: 'x' } as never) ?? assert.fail('nothing is asked');
  const [, count, names = '', others] =
    /^these (\d+) are deleted, which Git no longer lists: (.*), and (\d+) others: see status\.inventory$/.exec(
      approves,
    ) ?? assert.fail(approves);
  const named = names.split(', ');
  assert.ok(named.length > 10 && named.every((name) => keys.includes(name)));
  assert.deepEqual([count, named.length + Number(others)], ['100', 100]);
  assert.ok(approves.length <= longestFleetApprovalText);
});

test('one deletion is named alone', () => {
  const kept = [{ key: 'EtcdCluster payments/orders', because: 'NeedsConfirmation' as const }];
  const asked = pruneApproval({ kept, notes: [], confirmation: 'x' } as never);
  assert.equal(asked?.approves, 'this is deleted, which Git no longer lists: EtcdCluster payments/orders');
});
