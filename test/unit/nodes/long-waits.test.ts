import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { statusFor } from '../../../reconcile/cluster/report/status.ts';
import { clusterSeen } from '../../../reconcile/nodes/cluster-seen.ts';
import { baseSpec, healthy, withRecord } from '../cluster/observations.ts';

test('a cluster in the middle of something keeps nodes, also when that has lasted for long', () => {
  const every = withRecord({ version: '3.5.35', nextVersion: baseSpec.version });
  const first = { ...healthy(3, { every }), clusterVersion: '3.5.0' };
  assert.equal(clusterSeen(situate(first)).busy?.kind, 'wait');
  const status = statusFor(situate(first), decide(first), { kind: 'none' });
  const at = new Date(first.at.getTime() + 2 * 3_600_000);
  const later = { ...first, at, cluster: { ...first.cluster, status } };
  assert.deepEqual([decide(later).kind, decide(later).reason], ['refuse', 'AwaitingClusterVersion']);
  assert.equal(clusterSeen(situate(later)).busy?.kind, 'wait');
});
