import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { held } from '../../run/shares.ts';
import { takeYardstick } from '../../run/yardstick.ts';

test('a run measures how fast its machine is, at least once, and its threads end with it', async () => {
  const pace = (await takeYardstick().end())(['unit']);
  assert.ok(pace > 0.05 && pace < 50, `${pace}`);
});

test('a measurement that fails crashes no run, and counts as the machine of the shares', async () => {
  const yardstick = takeYardstick(() => Promise.reject(new Error('out of memory')));
  await setImmediate();
  assert.equal((await yardstick.end())(['unit']), 1);
});

test('each room is held against what the machine was while it ran', async () => {
  const seconds = [0.172, 0.344, 0.516];
  const yardstick = takeYardstick(async () => seconds.shift() ?? assert.fail('nothing is left to be measured'));
  yardstick.enter('unit');
  yardstick.enter('e2e');
  const pace = await yardstick.end();
  const rounded = (...rooms: Parameters<typeof pace>[0]) => Math.round(pace(rooms) * 100) / 100;
  assert.deepEqual([rounded('start'), rounded('unit', 'explore'), rounded('e2e')], [1, 2, 3]);
  assert.equal(rounded('integration'), 2, 'the median of all, where there is none of its own');
  const used = { unit: 900, explore: 100, integration: 1_090, e2e: 1_700 };
  assert.deepEqual(
    held(used, pace).map(({ line, isExceeded }) => [line.trim().split(/ {2,}/)[0], isExceeded]),
    [
      ['unit tests and search', false],
      ['integration', true],
      ['stories', false],
      ['start', false],
    ],
  );
});
