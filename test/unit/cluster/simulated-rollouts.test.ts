import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chanceFrom } from '../../explore/chance.ts';
import { type Rollout, simulate } from '../../support/rollouts/simulated.ts';

/** `npm run bench -- rollout` has a thousand clusters, and a thousand seeds. */
const rollout: Rollout = {
  clusters: 100,
  stages: [{ name: 'canary', clusters: 5, soak: '20m' }],
  maxClustersInProgress: 3,
  haltAbove: { leaderChanges: 3 },
  hurts: 0,
  changes: { usual: 0.01, hurt: 20 },
};
const seeds = [1, 2, 3, 4];
const each = (differences: Partial<Rollout>) =>
  seeds.map((seed) => simulate({ ...rollout, ...differences }, chanceFrom(seed)));

test('a commit that hurts all halts when as many have it as may change at once', () => {
  const stages = [{ name: 'canary', clusters: 50, soak: '20m' }];
  for (const { began, hurt, isHalted } of each({ hurts: 1, stages }))
    assert.deepEqual({ began, hurt, isHalted }, { began: 3, hurt: 3, isHalted: true });
});

test('one that hurts a few halts before more than that are hurt', () => {
  for (const { began, hurt, isHalted } of each({ hurts: 0.1 }))
    assert.ok(isHalted && hurt <= 3 && began < 100, `${hurt} of ${began} are hurt`);
});

test('one that hurts all a little does not leave the first stage', () => {
  for (const { hurt, isHalted } of each({ hurts: 1, changes: { usual: 0.01, hurt: 5 } }))
    assert.ok(isHalted && hurt <= 5, `${hurt} are hurt`);
});

test('one that hurts none reaches all', () => {
  for (const { began, isHalted } of each({ maxClustersInProgress: 20 }))
    assert.deepEqual({ began, isHalted }, { began: 100, isHalted: false });
});
