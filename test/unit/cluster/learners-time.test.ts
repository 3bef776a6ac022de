import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { bootstrapVariables } from '../../../manifests/render/bootstrap-variables.ts';
import { peerUrl } from '../../../manifests/render/names.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import type { Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import {
  all,
  cluster,
  crashing,
  endingAs,
  endpoint,
  healthy,
  members,
  namespace,
  recordFor,
  silent,
  waiting,
  withContainer,
  withEndpoint,
  without,
  withPod,
  withRecord,
  withVolume,
} from './observations.ts';
import { withRefused } from './refused.ts';

const at = Date.parse('2026-01-02T03:04:05Z');
const ago = (minutes: number) => new Date(at - minutes * 60_000);

/** Two voters, and a learner that the status has seen unhealthy for so many minutes. */
function withLearner(change: (slot: Slot) => Slot, minutes: number, replicas = 3): Observation {
  const list = members(3);
  const listed = list.members.map((one, index) => (index === 2 ? { ...one, isLearner: true } : one));
  const member = { name: 'orders-2', healthy: false, unhealthySince: ago(minutes).toISOString() };
  return healthy(3, {
    spec: { replicas },
    status: { observedGeneration: 3, members: [member] },
    membership: { ...list, members: listed },
    slots: { 2: all(withEndpoint(silent), withPod({ ready: false, createdAt: ago(minutes - 0.01) }), change) },
    shared: { disruptionBudget: { state: 'present', minAvailable: 2 } },
  });
}

const decided = (change: (slot: Slot) => Slot, minutes: number, replicas?: number): Decision =>
  decide(withLearner(change, minutes, replicas));

/** It has not been seen to answer yet. */
function joining(slot: Slot): Slot {
  const record = { ...recordFor(2, 3), state: 'joining' as const };
  const { ETCD_INITIAL_CLUSTER: initialCluster, ETCD_INITIAL_CLUSTER_STATE: initialClusterState } = bootstrapVariables(
    record,
    slot.name,
  );
  const configMap = slot.configMap && { ...slot.configMap, initialCluster, initialClusterState, immutable: false };
  return withRecord(record)(configMap ? { ...slot, configMap } : slot);
}

const unscheduled = all(joining, waiting, withPod({ unscheduled: 'Unschedulable' }));
const running = (minutes: number) => withContainer({ state: 'running', everStarted: true, startedAt: ago(minutes) });

describe('the time of a learner', () => {
  test('begins with its own start, not with its record', () => {
    assert.equal(decided(all(joining, running(0.05)), 30).reason, 'LearnerStarting');
    assert.equal(decided(all(joining, running(11)), 30).reason, 'RemovingFailedLearner');
  });

  test('is remembered over restarts by the status', () => {
    const observation = withLearner(all(joining, running(0.05)), 30);
    const [member] = observation.cluster.status?.members ?? [];
    const noted = { ...(member ?? assert.fail()), startedAt: ago(20).toISOString() };
    const cluster = { ...observation.cluster, status: { observedGeneration: 3, members: [noted] } };
    assert.equal(decide({ ...observation, cluster }).reason, 'RemovingFailedLearner');
  });

  test('is over also in sync, when its disk goes with its pod: it is not promoted', () => {
    const leaving = all(joining, withEndpoint(endpoint(2)), withPod({ ready: true }), withVolume({ leaving: true }));
    assert.equal(decided(leaving, 1).reason, 'VolumeLeaving');
    assert.equal(decided(leaving, 11).reason, 'RemovingFailedLearner');
  });

  test('is not over because a single answer is late, once it has answered', () => {
    assert.equal(decided(running(30), 30).reason, 'LearnerStarting');
    assert.equal(decided(running(61), 61).reason, 'RemovingFailedLearner');
  });

  test('is not over while it is in sync: it is promoted, however late the look', () => {
    const inSync = all(running(600), withEndpoint(endpoint(2, { isLearner: true })));
    assert.equal(decided(inSync, 600).reason, 'PromotingLearner');
  });

  test('does not run while no node has room for it and its volume is bound to none; it says so', () => {
    const decision = decided(all(unscheduled, withVolume({ bound: false })), 6000);
    assert.deepEqual([decision.kind, decision.reason], ['refuse', 'PodUnscheduled']);
  });

  test('is long where its volume is bound to a place that has no room: at another one there may be', () => {
    assert.equal(decided(unscheduled, 59).reason, 'PodUnscheduled');
    const decision = decided(unscheduled, 61);
    assert.equal(decision.reason, 'RemovingFailedLearner');
    assert.match(decision.message, /\(PodUnscheduled\)/);
  });

  for (const [what, change] of [
    ['its volume is gone', without('volume')],
    ['its PersistentVolume is gone', withVolume({ disk: { pv: 'pv-2', state: 'gone', homes: 'unknown' } })],
    ['its pod does not end on a dead node', withPod({ leaving: true, endsBy: ago(30) })],
  ] as const) {
    test(`is that of a member where ${what}: it can never start`, () => {
      assert.notEqual(decided(all(waiting, change), 9).kind, 'act');
      assert.equal(decided(all(waiting, change), 31).reason, 'RemovingFailedLearner');
    });
  }

  test('of one whose pod ends counts from when it should have ended', () => {
    assert.notEqual(decided(all(waiting, withPod({ leaving: true, endsBy: ago(1) })), 31).kind, 'act');
  });

  test('is short where etcd gives up on it', () => {
    assert.equal(decided(all(crashing, joining), 11).reason, 'RemovingFailedLearner');
  });

  const beside = { name: 'prepare', reason: 'CrashLoopBackOff', restarts: 5, exit: { code: 3, reason: 'Error' } };
  const warnings = [
    { object: 'statefulSet', uid: 'set-2', reason: 'FailedCreate', message: 'x', since: ago(9), at: ago(1), count: 5 },
  ] as const;
  const refused = (slot: Slot): Slot => ({ ...without('pod')(slot), warnings });
  for (const [what, change, reason] of [
    ['for want of memory', endingAs({ code: 137, reason: 'OOMKilled' }), 'OutOfMemory'],
    ['where its program can not be run', endingAs({ code: 128, reason: 'StartError' }), 'ContainerCannotStart'],
    ['where another container fails', all(waiting, withPod({ beside })), 'OtherContainerFails'],
    ['where the API server refuses its pod', refused, 'PodRefused'],
  ] as const)
    test(`is never over ${what}: it is named, as for any member`, () => {
      const decision = decided(all(change, joining), 6000);
      assert.deepEqual([decision.kind, decision.reason], ['refuse', reason]);
    });

  test('is over where the spec asks for no more members than vote already', () => {
    const homeless = all(unscheduled, withVolume({ bound: false }));
    assert.equal(decided(homeless, 1, 2).reason, 'PodUnscheduled');
    assert.equal(decided(homeless, 3, 2).reason, 'RemovingUnneededLearner');
  });
});

describe('new members that come to nothing', () => {
  const minute = 60_000;

  function afterFailures(failures: number, minutes: number): Decision {
    const failed = (index: number) => ({
      at: new Date(at - (failures - index - 1) * 300 * minute).toISOString(),
      action: 'remove-member',
      reason: 'RemovingFailedLearner',
      message: 'removing the learner orders-3 again (PodUnscheduled): its pod finds no node',
      outcome: 'acted',
      generation: 3,
    });
    const history = Array.from({ length: failures }, (_, index) => failed(index));
    const seen = healthy(3, { spec: { replicas: 4 }, status: { observedGeneration: 3, history } });
    return decide({ ...seen, at: new Date(at + minutes * minute) });
  }

  for (const [failures, pause] of [
    [2, 10],
    [3, 20],
    [4, 40],
    [6, 160],
    [20, 160],
  ] as const) {
    test(`are tried again ${pause} minutes after failure ${failures}, and the refusal names cause and time`, () => {
      const refused = afterFailures(failures, pause - 1);
      assert.deepEqual([refused.kind, refused.reason], ['refuse', 'LearnersFail']);
      assert.match(refused.message, /\(PodUnscheduled\)/);
      assert.ok(refused.message.includes(new Date(at + pause * minute).toISOString()), refused.message);
      assert.equal(afterFailures(failures, pause).reason, 'PreparingMember');
    });
  }

  test('are tried at once after the first', () => assert.equal(afterFailures(1, 0).reason, 'PreparingMember'));

  test('are waited for with words that do not change from tick to tick', () => {
    assert.deepEqual(afterFailures(3, 1), afterFailures(3, 2));
  });

  test('are never waited for without end', () => {
    fc.assert(fc.property(fc.nat(20), (failures) => afterFailures(failures, 161).reason === 'PreparingMember'));
  });
});

describe('a learner at an address of ours that nothing stands for', () => {
  const ghost = {
    id: 'a9',
    name: '',
    isLearner: true,
    peerURLs: [peerUrl(namespace, cluster, 'orders-9')],
    clientURLs: [],
  };
  const haunted = (observation: Observation): Observation => {
    const { membership } = observation;
    if (membership.kind === 'unknown') return assert.fail();
    return { ...observation, membership: { ...membership, members: [...membership.members, ghost] } };
  };

  test('is removed: it has no data and no vote', () => {
    const decision = decide(haunted(healthy(3)));
    assert.deepEqual(
      [decision.reason, decision.kind === 'act' && decision.action.kind],
      ['RemovingGhost', 'remove-member'],
    );
  });

  test('is removed also where the removal of one of ours was refused for good', () => {
    const both = haunted(withLearner(all(joining, running(11)), 30));
    const first = decide(both);
    assert.equal(first.reason, 'RemovingFailedLearner');
    assert.equal(decide(withRefused(both, first)).reason, 'RemovingGhost');
  });

  test('at an address of others it is a case for a person', () => {
    const others = { ...ghost, peerURLs: ['http://elsewhere.example.com:2380'] };
    const { membership, ...rest } = healthy(3);
    if (membership.kind === 'unknown') return assert.fail();
    const decision = decide({ ...rest, membership: { ...membership, members: [...membership.members, others] } });
    assert.equal(decision.reason, 'UnknownMember');
  });
});
