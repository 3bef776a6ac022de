import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFetchCache } from '../../../functions/read/fetch-cache.ts';
import { createByteBudget } from '../../../gitops/git/budget.ts';
import type { Earlier } from '../../../gitops/git/earlier.ts';
import type { GitSource } from '../../../gitops/git/source.ts';

const of = (bytes: number): Earlier => ({
  commits: ['a'.repeat(40)],
  shallow: [],
  partial: false,
  terms: undefined,
  packs: [{ pack: Buffer.alloc(bytes), index: Buffer.alloc(0), large: new Set(), leavesOut: false }],
});
const source = (url: string, token?: string): GitSource => ({
  url,
  ref: 'main',
  path: '.',
  ...(token !== undefined && { credentials: { token } }),
});

test('what is kept is given once, whatever ref and path, and counts as the taker’s', () => {
  const budget = createByteBudget(100);
  const cache = createFetchCache(budget, 50);
  const kept = of(40);
  cache.put(source('https://a/r'), kept);
  using share = budget.join('https://a/r');
  const other = { ...source('https://a/r/'), ref: 'next', path: 'b' };
  assert.equal(cache.take(other, share), kept);
  assert.equal(cache.take(other, share), undefined);
  share.take(60);
  assert.throws(() => share.take(1), { reason: 'TooLarge' });
});

test('only who shows the same credentials is given it', () => {
  const budget = createByteBudget(100);
  const cache = createFetchCache(budget, 50);
  cache.put(source('https://a/r', 'one'), of(10));
  using share = budget.join('https://a/r');
  assert.equal(cache.take(source('https://a/r', 'other'), share), undefined);
  assert.equal(cache.take(source('https://a/r'), share), undefined);
  assert.ok(cache.take(source('https://a/r', 'one'), share));
});

test('the oldest goes for the newest, and what is larger than all room is not kept', () => {
  const budget = createByteBudget(1_000);
  const cache = createFetchCache(budget, 50);
  for (const name of ['a', 'b', 'c']) cache.put(source(`https://${name}`), of(20));
  cache.put(source('https://d'), of(51));
  using share = budget.join('https://x');
  const found = ['a', 'b', 'c', 'd'].filter((name) => cache.take(source(`https://${name}`), share));
  assert.deepEqual(found, ['b', 'c']);
});

test('it is let go of for a repository that needs the room', () => {
  const budget = createByteBudget(100);
  const cache = createFetchCache(budget, 50);
  cache.put(source('https://a'), of(40));
  using busy = budget.join('https://b');
  busy.take(90);
  assert.ok(!busy.signal.aborted);
  assert.equal(cache.take(source('https://a'), busy), undefined);
  cache.put(source('https://c'), of(40));
  assert.equal(cache.take(source('https://c'), busy), undefined);
  assert.ok(!busy.signal.aborted);
});
