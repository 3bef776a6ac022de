import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterCounters } from '../../../manifests/api/cluster-counters.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { haltsAbove } from '../../../reconcile/cluster/observe/halts.ts';
import { clustersWithoutRoom } from '../../../reconcile/cluster/observe/room.ts';
import type { ClusterObjects } from '../../../reconcile/cluster/observe/snapshot.ts';
import { at, before, behind, beyond, counted, haltAbove, halting, heldAmong } from './counted-objects.ts';
import { healthy, withInputs } from './observations.ts';
import { canary, eu, fleetOf, one, rest, resumed, stages } from './staged-objects.ts';

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

  test('halts none where a person approved that this commit goes on, and the stages hold as before', () => {
    const clusters = [beyond(canary()), beside('z'), counted(eu()), counted(rest(behind))];
    assert.deepEqual([...heldAmong(clusters).keys()], ['z', 'b', 'c']);
    const fleet = resumed(halting(clusters), { stages, haltAbove });
    assert.deepEqual(
      [...heldAmong(clusters, fleet)].map(([uid, { halt }]) => [uid, halt]),
      [
        ['b', undefined],
        ['c', undefined],
      ],
    );
    const other = resumed(halting(clusters), { stages, haltAbove }, 'b'.repeat(40));
    assert.equal(heldAmong(clusters, other).get('z')?.halt, 'haltAbove');
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
