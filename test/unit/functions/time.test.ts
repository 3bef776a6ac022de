import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { timeForGit } from '../../../functions/pass/shared-git.ts';

test('Git gets at most half of the time that is left, in milliseconds that a timer takes', () => {
  fc.assert(
    fc.property(fc.nat(3_600_000), fc.integer({ min: -60_000, max: 3_600_000 }), (now, left) => {
      const ms = timeForGit(now + left, now);
      // What it throws would end the whole tick: "It must be an integer".
      AbortSignal.timeout(ms);
      assert.ok(ms <= 10_000 && ms <= Math.max(0, left) / 2, `${ms} of ${left}`);
    }),
  );
});
