import assert from 'node:assert/strict';
import { test } from 'node:test';
import { madeUp, shapeOf } from '../../demo/shape.ts';

const printed = `
Merged: the plan happens
 25.7 s  merged #1 as 3388490
 27.2 s  commit 3388490  fleet: pending — giving orders-0 etcd 3.7.3
 45.3 s  orders  · AllVolumesGone: orders had members (etcd cluster a0bee896579e5fce)
`;

test('another run prints lines of the same shape', () => {
  assert.equal(
    madeUp(
      'Merged: the plan happens\n  9.1 s  merged #1 as 00ff00f\n 11.0 s  orders  · AllVolumesGone: orders had members (etcd cluster 0123456789abcdef)\n',
      printed,
    ),
    undefined,
  );
  assert.equal(shapeOf('  1.0 s  get at https://10.96.0.7:2379'), shapeOf(' 66.7 s  get at https://10.96.18.231:2379'));
});

test('a line with another word, or in another place, is made up', () => {
  const merged = ' 25.7 s  merged #2 as 3388490';
  assert.equal(madeUp(merged, printed), merged);
  const late = 'Merged: the plan happens';
  assert.equal(madeUp(` 25.7 s  merged #1 as 3388490\n${late}`, printed), late);
});
