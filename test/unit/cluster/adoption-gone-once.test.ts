import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { volumesFinalizer } from '../../../reconcile/cluster/know/marks.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { statusFor } from '../../../reconcile/cluster/report/status.ts';
import { approved, beside } from './adoptions.ts';

/** What was reported of a look, and a later look with it. */
function after(looked: Observation, next: Observation, minutes: number): Observation {
  const { metadata } = looked.cluster;
  const status = statusFor(situate(looked), decide(looked), { kind: 'none' });
  const at = new Date(looked.at.getTime() + minutes * 60_000);
  const annotations = { ...metadata.annotations };
  return { ...next, at, cluster: { ...next.cluster, status, metadata: { ...next.cluster.metadata, annotations } } };
}

test('that the others are gone for good was approved in one outage, and counts in no later one', () => {
  const { membership: whole } = beside(3);
  assert.ok(whole.kind === 'known');
  const down = { membership: { kind: 'unknown', cause: 'no quorum answers', last: whole.members } } as const;
  const outage = { ...beside(3, down), inherited: [] };
  const begun = after(beside(3), outage, 10);
  const given = approved(after(begun, outage, 10));
  const back = after(given, beside(3), 60);
  assert.equal(
    decide(back).reason,
    'AdoptionNotApproved',
    'all of them serve again, and the annotation is still there',
  );
  // Weeks later the EtcdCluster is deleted, and just then one look finds no quorum: the others may serve.
  const metadata = { deletionTimestamp: '2026-02-02T03:00:00Z', finalizers: [volumesFinalizer] };
  const deleted = after(back, { ...beside(3, { ...down, metadata }), inherited: [] }, 30 * 24 * 60);
  const decision = decide(deleted);
  assert.deepEqual([decision.kind, decision.reason], ['refuse', 'AdoptionUnfinished'], decision.message);
});
