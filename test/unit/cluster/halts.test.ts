import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterCounters } from '../../../manifests/api/cluster-counters.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { HaltAbove } from '../../../manifests/api/rollout.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { waitForStage } from '../../../reconcile/cluster/decide/wait-for-stage.ts';
import { processesOf } from '../../../reconcile/cluster/know/counters.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { haltsAbove } from '../../../reconcile/cluster/observe/halts.ts';
import { clustersWithoutRoom } from '../../../reconcile/cluster/observe/room.ts';
import { slotsOf } from '../../../reconcile/cluster/observe/slots.ts';
import type { ClusterObjects } from '../../../reconcile/cluster/observe/snapshot.ts';
import { heldByStages } from '../../../reconcile/cluster/observe/stages.ts';
import { healthy, withInputs } from './observations.ts';
import { canary, eu, fleetOf, now, type Objects, one, rest, stages } from './staged-objects.ts';

const haltAbove: HaltAbove = { leaderChanges: 2 };
const zero = { leaderChanges: 3, failedProposals: 0, fsyncs: 9, slowFsyncs: 0, commits: 9, slowCommits: 0 };
const before = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString().replace('.000', '');
const at = (...minutes: readonly number[]) => minutes.map((one) => ({ at: before(one), ...zero }));

/** Measured for ten minutes, until two minutes ago. */
function counted(objects: ClusterObjects, differences: Partial<ClusterCounters> = {}): ClusterObjects {
  const { cluster } = objects;
  const own = { ...processesOf(slotsOf(objects)), above: haltAbove, samples: at(12, 7, 2), ...differences };
  return {
    ...objects,
    cluster: { ...cluster, status: { ...(cluster.status ?? { observedGeneration: 1 }), counters: own } },
  };
}

/** It counted too much so many minutes ago. */
const beyond = (objects: ClusterObjects, minutes = 5) =>
  counted(objects, { exceeded: { at: before(minutes), limit: 'leaderChanges' } });

function halting(clusters: readonly ClusterObjects[], above = haltAbove, soaks = stages): EtcdFleet {
  const { spec, ...others } = fleetOf(clusters);
  return { ...others, spec: { ...spec, rollout: { stages: soaks, haltAbove: above } } };
}

const heldAmong = (clusters: readonly ClusterObjects[], of = halting(clusters)) => heldByStages(clusters, [of], now);

const behind = { behind: 3 };
const others = [counted(eu(behind)), counted(rest(behind))];
const beside = (name: string) => counted(one(name, { stage: 'canary' }, behind));

describe('a cluster that counts more than its fleet allows', () => {
  test('halts those of later stages, which say so in a commit that fails', () => {
    const held = heldAmong([beyond(canary()), ...others]);
    assert.deepEqual([...held.keys()], ['b', 'c']);
    const stage = held.get('b');
    assert.deepEqual(stage, {
      fleet: 'etcd-ratchet/production',
      why: 'the leader of shop/a changed more than 2 times in ten minutes',
      halt: 'haltAbove',
    });
    const older = withInputs({ resources: { limits: { memory: '1Gi' } } });
    const { kind, reason, message } = decide(situate({ ...healthy(3, { every: older }), stage }));
    assert.deepEqual([kind, reason], ['refuse', 'RolloutHalted']);
    assert.match(
      message,
      /^halted: the leader of shop\/a changed .*\(spec\.rollout\.haltAbove of fleet etcd-ratchet\/production\)$/,
    );
  });

  test('halts those of its own stage, and not itself: its revert waits for nothing', () => {
    const held = heldAmong([beyond(canary(behind)), beside('z'), ...others]);
    assert.deepEqual([...held.keys()], ['z', 'b', 'c']);
    assert.equal(held.get('z')?.halt, 'haltAbove');
  });

  test('halts another that does: only the first one by stage and name is free to go back', () => {
    const two = [beyond(one('z', { stage: 'canary' }, behind)), beyond(canary(behind)), beyond(eu(behind))];
    const held = heldAmong(two);
    assert.deepEqual([...held.keys()].toSorted(), ['b', 'z']);
    for (const { why } of held.values()) assert.match(why, /^the leader of shop\/a/);
  });

  test('in the last stage halts the rest of it, and none before', () => {
    const other = counted(one('d', {}, behind));
    const held = heldAmong([counted(canary(behind)), counted(eu()), beyond(rest()), other]);
    assert.equal(held.get('d')?.halt, 'haltAbove');
    assert.equal(held.has('a'), false);
    assert.equal(held.get('c')?.halt, undefined);
  });

  test('is told before one that soaks', () => {
    const soaking = counted(one('0', { stage: 'canary' }, { readyAt: before(30) }));
    assert.match(heldAmong([soaking, beyond(canary()), ...others]).get('b')?.why ?? '', /^the leader of shop\/a/);
  });

  test('halts for the soak of its stage, or for ten minutes', () => {
    const isHalted = (minutes: number) => heldAmong([beyond(canary(), minutes), ...others]).has('b');
    assert.deepEqual([59.9, 60].map(isHalted), [true, false]);
    const only = (minutes: number) => heldAmong([counted(canary()), beyond(eu(), minutes), counted(rest(behind))]);
    assert.deepEqual(
      [9.9, 10].map((minutes) => only(minutes).has('c')),
      [true, false],
    );
  });

  test('halts also when a member has started anew, until its members are given something else', () => {
    const exceeded = { at: before(5), limit: 'leaderChanges' };
    const isHalted = (differences: Partial<ClusterCounters>) =>
      heldAmong([counted(canary(), { exceeded, ...differences }), ...others]).get('b')?.halt;
    assert.equal(isHalted({ processes: 'others' }), 'haltAbove');
    assert.equal(isHalted({ given: 'others' }), undefined);
  });

  test('halts no longer with other limits, or none, or when it is asleep, deleted or stopped', () => {
    const all = [beyond(canary()), ...others];
    assert.equal(heldAmong(all, halting(all, { leaderChanges: 9 })).get('b')?.halt, undefined);
    assert.deepEqual([...heldAmong(all, fleetOf(all)).keys()], ['c']);
    const asleep = { status: { lastDecision: { kind: 'Wait', reason: 'Hibernating', message: '' } } } as const;
    for (const left of [
      asleep,
      { metadata: { deletionTimestamp: before(1) } },
      { spec: { suspend: true } },
      { metadata: { annotations: { 'etcd.ratchet.dev/paused': '' } } },
    ])
      assert.equal(heldAmong([beyond(canary(left)), beside('z')]).has('z'), false);
  });

  test('takes no room of others by waiting, and is no wish to change', () => {
    const lastDecision = { kind: 'Refuse', reason: 'RolloutHalted', message: '' } as const;
    const held = canary({ ...behind, status: { lastDecision } });
    const fleet = { ...fleetOf([]), spec: { ...fleetOf([]).spec, maxClustersInProgress: 1 } };
    assert.deepEqual([...clustersWithoutRoom([held, eu(behind)], [fleet]).keys()], ['a']);
  });
});

describe('a stage of a fleet that halts is over', () => {
  const waits = (first: ClusterObjects, soaks = stages) => {
    const clusters = [first, counted(eu(behind))];
    return heldAmong(clusters, halting(clusters, haltAbove, soaks)).get('b')?.why ?? 'it goes on';
  };
  const isMeasured = /stage canary is not over: shop\/a is measured \(spec\.rollout\.haltAbove\)/;

  test('when its members were measured for ten minutes', () => {
    assert.equal(waits(counted(canary())), 'it goes on');
  });

  for (const [what, first] of [
    ['they were never measured', canary()],
    ['they were measured for a shorter time', counted(canary(), { samples: at(7, 2) })],
    ['they were measured long ago', counted(canary(), { samples: at(30, 20, 10) })],
    ['a member has started since', counted(canary(), { processes: 'others' })],
    ['one of them was not measured', counted(canary(), { members: 2 })],
    ['they were measured for other limits', counted(canary(), { above: { leaderChanges: 3 } })],
  ] as const)
    test(`not while ${what}`, () => {
      assert.match(waits(first), isMeasured);
    });

  test('when they were measured for a soak below ten minutes; without one, for ten', () => {
    const short = counted(canary(), { samples: at(7, 2) });
    const canaries = { name: 'canary', matchLabels: { stage: 'canary' } };
    assert.equal(waits(short, [{ ...canaries, soak: '5m' }]), 'it goes on');
    assert.match(waits(short, [canaries as never]), isMeasured);
  });
});

describe('until it is known what a cluster counts that has begun', () => {
  const ago = (minutes: number): Objects => ({ readyAt: before(minutes), startedAt: before(minutes) });
  const allowed = (limit: number | string, ...clusters: readonly ClusterObjects[]) => {
    const of = halting(clusters);
    return heldAmong(clusters, { ...of, spec: { ...of.spec, maxClustersInProgress: limit } });
  };
  const next = counted(one('z', { stage: 'canary' }, behind));

  test('it keeps its room', () => {
    const held = allowed(1, canary(ago(9)), next);
    assert.deepEqual([...held.keys()], ['z']);
    const found = waitForStage({ stage: held.get('z') ?? assert.fail(), at: now });
    assert.equal(found?.reason, 'WaitingForRoom');
    assert.match(found?.message ?? '', /are not measured yet \(spec\.rollout\.haltAbove\): shop\/a$/);
  });

  test('beside those that are being changed, or not well, as many begin as the fleet allows', () => {
    for (const differences of [{ behind: 1 }, { unready: [1] }]) {
      const [measured, other] = [canary(ago(9)), counted(one('y', { stage: 'canary' }, differences))];
      assert.deepEqual([...allowed(2, measured, other, next).keys()], ['z']);
      assert.deepEqual([...allowed(3, measured, other, next).keys()], []);
    }
  });

  test('a name that comes first, and wants nothing, takes no turn of one that wants', () => {
    const resting = counted(one('0', { stage: 'canary' }));
    assert.deepEqual([...allowed(1, resting, next).keys()], ['0']);
  });

  for (const [what, first] of [
    ['it was measured', counted(canary(ago(11)))],
    ['it could not be measured for half an hour', canary(ago(30))],
    [
      'it sleeps',
      canary({ ...ago(9), status: { lastDecision: { kind: 'Wait', reason: 'Hibernating', message: '' } } }),
    ],
    ['it is suspended', canary({ ...ago(9), spec: { suspend: true } })],
  ] as const)
    test(`the next one begins where ${what}`, () => {
      assert.equal(allowed(1, first, next).has('z'), false);
    });

  test('it holds up no revert of the cluster that halts, or while it lacks what is asked for', () => {
    const flaps = one('z', { stage: 'canary' }, { ...ago(3), ...behind });
    const reverted = counted(canary(behind));
    assert.equal(allowed(1, flaps, reverted).has('a'), false);
    const beside = one('0', { stage: 'canary' }, ago(3));
    assert.equal(allowed(1, beside, beyond(canary(behind))).has('a'), false);
    assert.equal(allowed(1, beside, reverted).get('a')?.isRoom, true);
  });

  test('it holds up those of its own stage only', () => {
    assert.equal(allowed(1, rest(ago(3)), counted(canary(behind))).has('a'), false);
  });

  test('a cluster whose window is shut waits for that, and takes no turn of others', () => {
    const changed = healthy(3, {
      every: withInputs({ resources: { limits: { memory: '1Gi' } } }),
      spec: { maintenance: { windows: [{ start: '0 2 * * *', duration: '1h' }] } },
    });
    const stage = { why: 'shop/a', isRoom: true } as const;
    const reasonAt = (time: string) => decide(situate({ ...changed, at: new Date(time), stage })).reason;
    assert.equal(reasonAt('2026-01-02T12:00:00Z'), 'OutsideWindows');
    assert.equal(reasonAt('2026-01-02T02:30:00Z'), 'WaitingForRoom');
  });

  test('it may take the next commit itself, as a revert', () => {
    assert.deepEqual([...allowed(1, canary({ ...ago(9), ...behind }), next).keys()], ['z']);
  });

  test('without limits, and for the label of a fleet alone, nothing is measured', () => {
    const clusters = [canary(ago(9)), next];
    const of = fleetOf(clusters);
    assert.equal(heldAmong(clusters, { ...of, spec: { ...of.spec, maxClustersInProgress: 1 } }).size, 0);
    const stranger = one('0', { stage: 'canary' }, ago(9));
    const own = halting([next]);
    assert.equal(heldAmong([stranger, next], { ...own, spec: { ...own.spec, maxClustersInProgress: 1 } }).size, 0);
  });
});

test('with limits, also the first stage waits while a cluster of the fleet is not seen', () => {
  const clusters = [counted(canary(behind)), counted(eu())];
  const of = halting([...clusters, one('gone', {})]);
  assert.match(heldAmong(clusters, of).get('a')?.why ?? '', /shop\/gone is not there, or can't be seen/);
  const { haltAbove: _, ...rollout } = of.spec.rollout ?? assert.fail();
  assert.equal(heldAmong(clusters, { ...of, spec: { ...of.spec, rollout } }).has('a'), false);
});

test('a label alone is told nothing by a halt, and begins nothing', () => {
  const clusters = [beyond(canary()), counted(eu())];
  const stranger = one('x', { region: 'eu' }, behind);
  const held = heldAmong([...clusters, stranger], halting(clusters)).get('x');
  assert.deepEqual(held, { why: 'it is not known yet whether the cluster is one of that fleet' });
});

test('clusters of such a fleet are measured, and nothing is forgotten where it is not seen', () => {
  const clusters = [canary(), eu(), rest()];
  const stranger = one('x', {});
  const uids = clusters.map(({ cluster }) => cluster.metadata.uid);
  const { metadata, ...other } = fleetOf([stranger]);
  const fleets = [halting(clusters), { ...other, metadata: { ...metadata, uid: 'other' } }];
  assert.deepEqual(
    [...haltsAbove([...clusters, stranger], fleets)],
    uids.map((uid) => [uid, haltAbove]),
  );
  assert.deepEqual(
    [...haltsAbove(clusters, [])],
    uids.map((uid) => [uid, 'unseen']),
  );
});

describe('a commit status of others', () => {
  const judged = (clusters: readonly ClusterObjects[], read: object | undefined, contexts = ['ci/smoke']) => {
    const { spec, status, ...others } = fleetOf(clusters);
    const told = { ...status, ...(read && { othersStatuses: read }) } as EtcdFleet['status'];
    const rollout = { stages, haltOnStatuses: contexts };
    return heldByStages(clusters, [{ ...others, spec: { ...spec, rollout }, status: told } as EtcdFleet], now);
  };
  const applied = 'a'.repeat(40);
  const clusters = [canary(), eu(behind), rest(behind)];

  test('halts all that have not begun when it fails on the commit that was applied', () => {
    const held = judged([canary(behind), eu(behind)], { sha: applied, failed: 'ci/smoke' });
    assert.deepEqual([...held.keys()], ['a', 'b']);
    const found = waitForStage({ stage: held.get('a') ?? assert.fail(), at: now });
    assert.deepEqual([found?.kind, found?.reason], ['refuse', 'RolloutHalted']);
    assert.match(found?.message ?? '', /^halted: commit status ci\/smoke failed \(spec\.rollout\.haltOnStatuses of/);
  });

  test('halts nothing while it has not failed', () => {
    assert.deepEqual([...judged(clusters, { sha: applied }).keys()], ['c']);
  });

  test('holds later stages until it was read for that commit, and not the first one', () => {
    for (const read of [undefined, { sha: 'b'.repeat(40) }, { sha: 'b'.repeat(40), failed: 'ci/smoke' }]) {
      const held = judged([canary(behind), ...clusters.slice(1)], read);
      assert.deepEqual([...held.keys()], ['b', 'c']);
      assert.match(held.get('b')?.why ?? '', /commit statuses ci\/smoke were not read yet/);
    }
  });

  test('halts no commit that is being applied, and may be the revert', () => {
    const { spec, status, ...others } = fleetOf(clusters);
    const revision = { applied: `main@sha1:${applied}`, attempted: `main@sha1:${'b'.repeat(40)}` };
    const told = { ...status, revision, othersStatuses: { sha: applied, failed: 'ci/smoke' } };
    const rollout = { stages, haltOnStatuses: ['ci/smoke'] };
    const of = { ...others, spec: { ...spec, rollout }, status: told } as EtcdFleet;
    const held = heldByStages([canary(behind), eu(behind)], [of], now);
    assert.deepEqual([...held.keys()], ['b']);
    assert.equal(held.get('b')?.halt, undefined);
  });

  test('that is asked for no more halts nothing', () => {
    assert.deepEqual([...judged(clusters, { sha: applied, failed: 'ci/smoke' }, ['ci/other']).keys()], ['c']);
  });

  test('is not told to a label alone', () => {
    const stranger = one('x', { region: 'eu' }, behind);
    const { spec, ...others } = fleetOf(clusters);
    const rollout = { stages, haltOnStatuses: ['ci/smoke'] };
    const status = { ...others.status, othersStatuses: { sha: applied, failed: 'ci/smoke' } } as EtcdFleet['status'];
    const held = heldByStages(
      [...clusters, stranger],
      [{ ...others, spec: { ...spec, rollout }, status } as EtcdFleet],
      now,
    );
    assert.deepEqual(held.get('x'), { why: 'it is not known yet whether the cluster is one of that fleet' });
  });
});
