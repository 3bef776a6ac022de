import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BackOff, formatSeconds, nextBackOff, remainingMs } from '../../support/cluster/node/backoff.ts';

const limits = { baseMs: 10_000, capMs: 300_000 };

test('the first restart is at once, later ones wait twice as long each, up to the cap', () => {
  let backOff: BackOff | undefined;
  const waits: number[] = [];
  let now = 1_000_000;
  for (let attempt = 0; attempt < 8; attempt++) {
    const wait = remainingMs(backOff, limits, now, now);
    waits.push(wait / 1000);
    now += wait;
    backOff = nextBackOff(backOff, limits, now);
  }
  assert.deepEqual(waits, [0, 10, 20, 40, 80, 160, 300, 300]);
});

test('the pause counts from the end of the last run', () => {
  const backOff = nextBackOff(undefined, limits, 0);
  assert.equal(remainingMs(backOff, limits, 5_000, 8_000), 7_000);
  assert.equal(remainingMs(backOff, limits, 5_000, 15_000), 0);
});

test('after twice the cap without an attempt it starts anew', () => {
  const old: BackOff = { delayMs: 300_000, updatedAt: 0 };
  assert.equal(remainingMs(old, limits, 600_001, 600_001), 0);
  assert.equal(nextBackOff(old, limits, 600_001).delayMs, 10_000);
  assert.equal(nextBackOff(old, limits, 600_000).delayMs, 300_000);
});

for (const [ms, text] of [
  [500, '500ms'],
  [1_000, '1s'],
  [20_000, '20s'],
  [80_000, '1m20s'],
  [300_000, '5m0s'],
] as const) {
  test(`${ms} ms are written ${text}`, () => assert.equal(formatSeconds(ms), text));
}
