import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createByteBudget } from '../../../gitops/git/budget.ts';

test('a repository that takes more than all may hold is refused for good', () => {
  using share = createByteBudget(100).join('https://a');
  share.take(100);
  assert.throws(() => share.take(1), { reason: 'TooLarge', class: 'terminal', message: /^https:\/\/a sent/ });
});

test('where all together take too much, the largest ends, and not the one that asks', () => {
  const budget = createByteBudget(100);
  using large = budget.join('https://large');
  using small = budget.join('https://small');
  large.take(80);
  small.take(30);
  assert.ok(large.signal.aborted);
  assert.throws(() => large.take(1), { reason: 'BudgetUsedUp', class: 'retryable', message: /^https:\/\/large sent/ });
  small.take(70);
  assert.ok(!small.signal.aborted);
});

test('what a repository took is given back when it is closed', () => {
  const budget = createByteBudget(100);
  for (let n = 0; n < 3; n++) {
    using share = budget.join('https://a');
    share.take(100);
  }
});

test('what is spare goes before any repository that is at work, however little it is', () => {
  const budget = createByteBudget(100);
  using spare = budget.join('https://spare', true);
  using large = budget.join('https://large');
  spare.take(10);
  large.take(95);
  assert.deepEqual([spare.signal.aborted, large.signal.aborted], [true, false]);
  using late = budget.join('https://late', true);
  assert.throws(() => late.take(10), { reason: 'BudgetUsedUp' });
  assert.ok(!large.signal.aborted);
});
