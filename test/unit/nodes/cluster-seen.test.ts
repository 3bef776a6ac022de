import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotations } from '../../../manifests/render/names.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { Slot } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { statusFor } from '../../../reconcile/cluster/report/status.ts';
import { clusterSeen } from '../../../reconcile/nodes/cluster-seen.ts';
import {
  all,
  type Differences,
  endpoint,
  healthy,
  members,
  noQuorum,
  silent,
  withEndpoint,
  withInputs,
  withPod,
  withRecord,
  withVolume,
} from '../cluster/observations.ts';

/** What of a cluster counts when one of its nodes is to go. */

const seen = (differences: Differences = {}) => clusterSeen(situate(healthy(3, differences)));

test('a member serves that is healthy and in sync, and neither alone is enough', () => {
  const serving = (change: (slot: Slot) => Slot) => seen({ slots: { 1: change } }).members.map(({ serves }) => serves);
  assert.deepEqual(serving(withPod({})), [true, true, true]);
  assert.deepEqual(serving(withEndpoint(endpoint(1, { raftAppliedIndex: 500n }))), [true, false, true]);
  assert.deepEqual(serving(withPod({ ready: false })), [true, false, true]);
});

test('a learner is no voter, and without a quorum no member is one', () => {
  const listed = members(3);
  const joining = listed.members.map((one, index) => ({ ...one, isLearner: index === 2 }));
  const { voters, learners, members: all } = seen({ membership: { ...listed, members: joining } });
  assert.deepEqual([voters, learners, all.map(({ voter }) => voter)], [2, 1, [true, true, false]]);
  const silenced = seen({ membership: noQuorum('none answers') });
  assert.deepEqual(
    [silenced.clusterId, silenced.voters, silenced.members.map(({ voter }) => voter)],
    [undefined, 0, [false, false, false]],
  );
});

test('a cluster that a person has stopped, or that another step holds, says so', () => {
  const { stopped, busy } = seen();
  assert.deepEqual([stopped, busy], [undefined, undefined]);
  assert.equal(seen({ spec: { suspend: true } }).stopped, 'is suspended');
  assert.equal(seen({ metadata: { annotations: { [annotations.paused]: 'true' } } }).stopped, 'is paused');
  assert.equal(seen({ metadata: { deletionTimestamp: '2026-01-02T03:04:00Z' } }).stopped, 'is being deleted');
  const until = new Date('2026-01-02T03:05:00Z');
  assert.equal(seen({ lease: { kind: 'held', holder: 'pod-2', until } }).busy?.kind, 'held');
});

test('a member says how far its log is, and what ails it where it does not serve', () => {
  const [well, lagging, mute] = seen({
    slots: { 1: withEndpoint(endpoint(1, { raftAppliedIndex: 500n })), 2: withEndpoint(silent) },
  }).members;
  assert.deepEqual([well?.ailment, well?.log], [undefined, 1000n]);
  assert.deepEqual([lagging?.ailment, lagging?.log], ['it is not in sync', 500n]);
  assert.deepEqual([mute?.log, mute?.serves], [0n, false]);
  assert.match(mute?.ailment ?? '', /orders-2/);
});

test('a cluster is busy with a step or a wait, however long, and not with what a person must do', () => {
  const resizing = { phase: 'Resizing', message: '', infeasible: false } as const;
  const first = healthy(3, { slots: { 1: withVolume({ growing: resizing }) } });
  const decision = decide(situate(first));
  assert.deepEqual([decision.kind, clusterSeen(situate(first)).busy?.kind], ['wait', 'wait']);
  const status = statusFor(situate(first), decision, { kind: 'none' });
  const at = new Date(first.at.getTime() + 86_400_000);
  const later = situate({ ...first, at, cluster: { ...first.cluster, status } });
  assert.deepEqual([decide(later).kind, clusterSeen(later).busy?.kind], ['refuse', 'wait']);
  const withService = (state: 'foreign' | 'missing') => ({ shared: { clientService: { state } } }) as const;
  assert.equal(decide(situate(healthy(3, withService('foreign')))).kind, 'refuse');
  assert.equal(seen(withService('foreign')).busy, undefined);
  assert.equal(seen(withService('missing')).busy?.kind, 'act');
});

test('a cluster of which a minor soaks for days keeps no node from its reboot', () => {
  const version = '3.7.3';
  const next = all(
    withEndpoint(endpoint(1, { version })),
    withInputs({ version }),
    withRecord({ nextVersion: version, rollsTo: version }),
  );
  const soaking = situate(healthy(3, { spec: { version, update: { soak: '72h' } }, slots: { 1: next, 2: next } }));
  assert.equal(decide(soaking).reason, 'Soaking');
  assert.equal(clusterSeen(soaking).busy, undefined);
});
