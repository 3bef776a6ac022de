import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startStopwatch } from '../../support/awake.ts';

test('a stopwatch stands while its process sleeps, and goes on while it waits', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = 1000;
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 25) {
      now += 25;
      t.mock.timers.tick(25);
    }
  };
  using watch = startStopwatch(() => now);
  pass(500);
  assert.equal(watch.milliseconds(), 500);
  now += 2000;
  t.mock.timers.tick(25);
  assert.equal(watch.milliseconds(), 525, 'one look was two seconds late');
  pass(100);
  assert.equal(watch.milliseconds(), 625);
});
