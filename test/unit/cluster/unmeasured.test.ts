import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { waitForStage } from '../../../reconcile/cluster/decide/wait-for-stage.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import type { ClusterObjects } from '../../../reconcile/cluster/observe/snapshot.ts';
import { before, behind, beyond, counted, halting, heldAmong } from './counted-objects.ts';
import { healthy, withInputs } from './observations.ts';
import { canary, fleetOf, now, type Objects, one, rest } from './staged-objects.ts';

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

  test('it keeps that of its stage as well', () => {
    const of = halting([canary(ago(9)), next]);
    const [first, ...after] = of.spec.rollout?.stages ?? [];
    const narrow = { ...first, maxClustersInProgress: 1 } as typeof first & object;
    const rollout = { ...of.spec.rollout, stages: [narrow, ...after] };
    const held = heldAmong([canary(ago(9)), next], { ...of, spec: { ...of.spec, rollout } });
    assert.deepEqual(
      [...held].map(([uid, { why }]) => [uid, why]),
      [['z', 'shop/a']],
    );
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
