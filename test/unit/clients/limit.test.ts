import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitOf } from '../../../reconcile/clients/limit.ts';

test('a call has its own time, counted anew from where its clock is started', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const limit = limitOf(undefined, 2_000);
  t.mock.timers.tick(1_999);
  limit.stopClock();
  t.mock.timers.tick(60_000);
  assert.equal(limit.expired(), false, 'while its clock stands still');
  limit.startClock();
  t.mock.timers.tick(1_999);
  assert.equal(limit.expired(), false);
  t.mock.timers.tick(1);
  assert.equal(limit.expired(), true);
  assert.equal(limit.words(), 'within 2000 ms');
  limit.release();
});

test('while its clock stands still, the caller can give up', async () => {
  const caller = new AbortController();
  const limit = limitOf(caller.signal, 2_000);
  limit.stopClock();
  const raced = limit.race(new Promise<never>(() => {}));
  caller.abort(new Error('the pass is over'));
  await assert.rejects(raced, /the pass is over/);
  assert.equal(limit.words(), 'before it was given up (the pass is over)');
  limit.release();
});
