import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSeen, NodeSeen, PodSeen } from '../../../reconcile/nodes/observation.ts';
import { clusterOf, cordoned, memberOf, memberPod, minutesAgo, onTheWay, podOf } from './seen.ts';

/** How a node gets empty, and what ends that where it does not. */

const late = { ...cordoned, cordoned: { at: minutesAgo(31), word: 'by-us' } };
const ending = podOf('web', { leaving: true });
const busy = { busy: { kind: 'held', why: 'a step' } } as const;
const outcomeOf = (node: Partial<NodeSeen>, cluster: Partial<ClusterSeen> = {}) => {
  const seen = onTheWay({ marks: late, ...node }, { clusters: [clusterOf(cluster)] });
  return [seen.kind, seen.reason];
};

test('only a node that is late, not Ready, and has nothing left but pods that end is lost', () => {
  const isLost = { ready: false, pods: [ending] };
  assert.deepEqual(outcomeOf(isLost), [undefined, 'NodeNotBack']);
  assert.deepEqual(outcomeOf({ ...isLost, ready: true }), ['put-off', 'DrainTimedOut']);
  assert.deepEqual(outcomeOf({ ...isLost, pods: [ending, podOf('job')] }), ['put-off', 'DrainTimedOut']);
  assert.deepEqual(outcomeOf({ ...isLost, marks: cordoned }), [undefined, 'Draining'], 'it has time');
  const apart = { members: [memberOf(1), memberOf(2)], voters: 2 };
  assert.deepEqual(outcomeOf({ ...isLost, pods: [] }, { ...apart, mayLoseQuorum: true }), ['order', 'Rebooting']);
});

test('what was not drained in time is put off, an empty node where its clusters object', () => {
  const long = { ...cordoned, cordoned: { at: minutesAgo(600), word: 'by-us' } };
  assert.deepEqual(outcomeOf({ marks: long, pods: [podOf('web')] }), ['put-off', 'DrainTimedOut']);
  assert.deepEqual(outcomeOf({ pods: [] }, busy), ['put-off', 'DrainTimedOut']);
  assert.deepEqual(outcomeOf({ marks: cordoned, pods: [] }, busy), [undefined, 'ClusterBusy']);
});

test('of pods that block only one that is to leave, and does not yet, is awaited', () => {
  const withPod = (pod: PodSeen) => outcomeOf({ marks: cordoned, pods: [pod, memberPod('orders-1')] });
  assert.deepEqual(withPod(podOf('batch', { blocks: true })), [undefined, 'BlockingPod']);
  assert.deepEqual(withPod(podOf('batch', { blocks: true, leaving: true })), [undefined, 'Draining']);
  for (const kind of ['stays', 'member'] as const)
    assert.deepEqual(withPod(podOf('batch', { blocks: true, kind })), ['move-leaders', 'MovingLeaders'], kind);
});

test('a member stays while another one joins, or no quorum answers though its spec allows that', () => {
  const pods = [memberPod('orders-0')];
  assert.deepEqual(outcomeOf({ marks: cordoned, pods }, { learners: 1 }), [undefined, 'ClusterBusy']);
  const silent = { clusterId: undefined as never, voters: 0, mayLoseQuorum: true };
  assert.deepEqual(outcomeOf({ marks: cordoned, pods }, silent), [undefined, 'ClusterWithoutQuorum']);
});
