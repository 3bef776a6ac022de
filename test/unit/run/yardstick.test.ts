import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { takeYardstick } from '../../run/yardstick.ts';

test('a run measures how fast its machine is, at least once, and its threads end with it', async () => {
  const pace = await takeYardstick().end();
  assert.ok(pace > 0.05 && pace < 50, `${pace}`);
});

test('a measurement that fails crashes no run, and counts as the machine of the shares', async () => {
  const yardstick = takeYardstick(() => Promise.reject(new Error('out of memory')));
  await setImmediate();
  assert.equal(await yardstick.end(), 1);
});
