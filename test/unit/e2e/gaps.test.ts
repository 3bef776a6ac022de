import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { longestGapAllowed, measureGaps } from '../../e2e/support/gaps.ts';

/** Time goes by in looks of 25 milliseconds, or in one, for a process that sleeps. */
function stage(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = 1000;
  const gaps = measureGaps(() => now);
  return {
    gaps,
    pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 25) {
        now += 25;
        t.mock.timers.tick(25);
      }
    },
    sleep(ms: number) {
      now += ms;
    },
    write(ms: number, wait: (ms: number) => void) {
      wait(ms);
      gaps.acknowledged();
    },
  };
}

test('the longest time between two writes counts', (t) => {
  const { gaps, pass, write } = stage(t);
  for (const ms of [50, 950, 75]) write(ms, pass);
  assert.equal(gaps.longest(), 950);
  assert.ok(gaps.longest() > longestGapAllowed);
  gaps.close();
});

test('a gap that is not over counts up to the end of the run', (t) => {
  const { gaps, pass, write } = stage(t);
  write(25, pass);
  pass(2000);
  assert.equal(gaps.longest(), 2000);
  gaps.close();
});

test('what was asked for is forgotten, and what goes on is not', (t) => {
  const { gaps, pass, write } = stage(t);
  write(500, pass);
  assert.deepEqual([gaps.recent(), gaps.recent()], [500, 0]);
  pass(300);
  assert.equal(gaps.recent(), 300);
  write(100, pass);
  assert.deepEqual([gaps.recent(), gaps.longest()], [400, 500]);
  gaps.close();
});

test('what the measuring process slept through is no gap, and what the cluster took beside it is', (t) => {
  const { gaps, pass, sleep, write } = stage(t);
  write(1500, sleep);
  assert.equal(gaps.longest(), 25);
  pass(700);
  sleep(1500);
  pass(300);
  gaps.acknowledged();
  assert.equal(gaps.longest(), 1000);
  gaps.close();
});
