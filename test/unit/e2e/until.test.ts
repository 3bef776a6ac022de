import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../e2e/support/until.ts';

test('an assertion that fails while something is waited for ends the wait at once', async () => {
  let looks = 0;
  const wait = until('all are there', async () => {
    looks++;
    assert.ok(looks > 1, 'two at once');
    return true;
  });
  await assert.rejects(wait, { code: 'ERR_ASSERTION', message: 'two at once' });
  assert.equal(looks, 1);
});

test('what does not answer yet is asked again', async () => {
  let looks = 0;
  const found = await until(
    'an answer',
    () => {
      looks++;
      if (looks === 1) throw new Error('connection refused');
      return looks > 2 && 'here';
    },
    { every: 1 },
  );
  assert.deepEqual([found, looks], ['here', 3]);
});

test('what did not come in time is named, with what was seen last, and why', async () => {
  const failure = new Error('connection refused');
  const look = () => Promise.reject(failure);
  await assert.rejects(until('an answer', look, { within: 0, last: () => 'no pod' }), {
    message: 'an answer: not within 0 s (no pod; connection refused)',
    cause: failure,
  });
});
