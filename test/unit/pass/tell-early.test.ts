import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tellEarly } from '../../../functions/pass/tell-early.ts';
import type { EarlyNews } from '../../../reconcile/stepping/kind.ts';

const stepped = { results: {}, workRemains: true, moved: true, isTold: false, unsettled: false };

async function told(fleets: Promise<unknown>, change: Partial<typeof stepped> = {}) {
  const news: EarlyNews[] = [];
  const onEarly = async (one: EarlyNews) => void news.push(one);
  const isTold = await tellEarly({ onEarly }, { ...stepped, ...change }, fleets);
  return { isTold, moved: news.map(({ moved }) => moved) };
}

test('what the steps have left is told while a repository is still being read', async () => {
  const never = Promise.withResolvers<void>().promise;
  assert.deepEqual(await told(never), { isTold: true, moved: [true] });
});

test('it is told once, with the fleets, where these are read', async () => {
  assert.deepEqual(await told(Promise.resolve()), { isTold: false, moved: [] });
  assert.deepEqual(await told(Promise.reject(new Error('x'))), { isTold: false, moved: [] });
});

test('nothing is told where nothing is left', async () => {
  assert.deepEqual(await told(Promise.withResolvers().promise, { workRemains: false }), { isTold: false, moved: [] });
});
