import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotations } from '../../../manifests/render/names.ts';
import type { Slot } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { clusterSeen } from '../../../reconcile/nodes/cluster-seen.ts';
import {
  type Differences,
  endpoint,
  healthy,
  members,
  noQuorum,
  withEndpoint,
  withPod,
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
