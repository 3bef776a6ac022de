import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeYardstick } from '../../run/yardstick.ts';

test('a run measures how fast its machine is, at least once, and its threads end with it', async () => {
  const pace = await takeYardstick().end();
  assert.ok(pace > 0.05 && pace < 50, `${pace}`);
});
