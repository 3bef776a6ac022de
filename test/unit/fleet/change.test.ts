import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeBetween } from '../../../reconcile/fleet/check/change.ts';
import type { DesiredTree } from '../../../reconcile/fleet/reading.ts';
import { clusterOf, entryOf, fleetWith, problemAbout, revision, specOf, treeOf } from './objects.ts';

const fleet = fleetWith({ inventory: ['orders', 'ads', 'users'].map((name) => entryOf(name)) }, { prune: true });
const clusters = ['orders', 'ads', 'users'].map((name) => clusterOf(name));
const [orders, ads, users] = [specOf('orders'), specOf('ads'), specOf('users')];
const broken = { problems: [problemAbout('broken.yaml')] };

for (const [what, before, after, deleted] of [
  ['what it stops listing', treeOf([orders, ads, users]), treeOf([orders, ads]), ['users']],
  ['nothing that goes without it as well', treeOf([orders, ads]), treeOf([orders, ads]), []],
  [
    'what was unlisted before, and stayed for a broken document that it mends',
    treeOf([orders, ads], broken),
    treeOf([orders, ads]),
    ['users'],
  ],
  ['what stayed because several would go', treeOf([orders]), treeOf([orders, ads]), ['users']],
  ['what stayed because nothing was listed at all', treeOf([]), treeOf([orders, ads]), ['users']],
] as const satisfies readonly (readonly [string, DesiredTree, DesiredTree, readonly string[]])[]) {
  test(`a request is said to delete ${what}`, () => {
    const { prune } = changeBetween(before, after, { fleet, fleets: [fleet], clusters, revision });
    assert.deepEqual(
      prune.map(({ metadata }) => metadata.name),
      deleted,
    );
  });
}
