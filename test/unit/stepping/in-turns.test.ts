import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inTurns } from '../../../reconcile/stepping/in-turns.ts';

const now = new Date('2026-11-26T12:00:00Z');
const kube = { now: () => now };
const objects = (namespace: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ metadata: { namespace, name: `${namespace}-${index}` } }));

test('results come in the order of the objects, whatever the order of the work', async () => {
  const items = [...objects('b', 5), ...objects('a', 5)];
  const results = await inTurns(items, { atOnce: 3, kube }, async ({ metadata }) => metadata.name);
  assert.deepEqual(
    results,
    items.map(({ metadata }) => metadata.name),
  );
});

test('objects that never end keep those of another namespace waiting for no place', async () => {
  const items = [...objects('mallory', 300), ...objects('payments', 40)];
  const silent = Promise.withResolvers<void>();
  const paid = Promise.withResolvers<void>();
  let left = 40;
  const all = inTurns(items, { atOnce: 32, kube }, async ({ metadata: { namespace } }) => {
    if (namespace === 'mallory') return silent.promise;
    left -= 1;
    if (left === 0) paid.resolve();
  });
  await paid.promise;
  silent.resolve();
  await all;
});

test('where there are more namespaces than places, a free place goes to one that had none', async () => {
  const items = ['mallory-1', 'mallory-2', 'payments'].flatMap((namespace) => objects(namespace, 3));
  // Each of them is the last one in some minute.
  for (let minute = 0; minute < 60; minute += 1) {
    const begun: string[] = [];
    const at = new Date(now.getTime() + minute * 60_000);
    await inTurns(items, { atOnce: 2, kube: { now: () => at } }, async ({ metadata }) => {
      begun.push(metadata.namespace);
      await Promise.resolve();
    });
    assert.equal(new Set(begun.slice(0, 3)).size, 3, begun.join(' '));
  }
});

test('where one place serves for a moment only, each namespace has its turn within an hour', async () => {
  const served = new Set<string>();
  for (let minute = 0; minute < 60; minute += 1) {
    const at = new Date(now.getTime() + minute * 60_000);
    const items = ['a', 'b', 'c'].flatMap((namespace) => objects(namespace, 8));
    const first = inTurns(items, { atOnce: 1, kube: { now: () => at } }, async ({ metadata }) => {
      served.add(metadata.namespace);
      throw new Error('no time is left');
    });
    await assert.rejects(first, /no time is left/);
  }
  assert.deepEqual([...served].toSorted(), ['a', 'b', 'c']);
});

test('a namespace alone has all places', async () => {
  const begun: string[] = [];
  const silent = Promise.withResolvers<void>();
  const all = inTurns(objects('payments', 40), { atOnce: 32, kube }, ({ metadata }) => {
    begun.push(metadata.name);
    return silent.promise;
  });
  assert.equal(begun.length, 32);
  silent.resolve();
  await all;
  assert.equal(begun.length, 40);
});

test('where one place serves for a moment only, each object has its turn within an hour', async () => {
  const served = new Set<string>();
  for (let minute = 0; minute < 60; minute += 1) {
    const at = new Date(now.getTime() + minute * 60_000);
    const first = inTurns(objects('payments', 8), { atOnce: 1, kube: { now: () => at } }, async ({ metadata }) => {
      served.add(metadata.name);
      throw new Error('no time is left');
    });
    await assert.rejects(first, /no time is left/);
  }
  assert.equal(served.size, 8);
});

test('a failure is told at once', async () => {
  const failed = inTurns(objects('payments', 3), { atOnce: 1, kube }, () => Promise.reject(new Error('refused')));
  await assert.rejects(failed, /refused/);
});

test('those that were silent keep at most half of the places of their namespace from the others', async () => {
  const silent = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const items = [...objects('silent', 300), ...objects('quick', 40)].map((one) => ({
    ...one,
    metadata: { ...one.metadata, namespace: 'one' },
  }));
  const isSlow = (item: (typeof items)[number]) => item.metadata.name.startsWith('silent');
  let begun = 0;
  let left = 40;
  const all = inTurns(items, { atOnce: 32, kube, isSlow }, async (item) => {
    if (isSlow(item)) {
      begun += 1;
      return silent.promise;
    }
    await Promise.resolve();
    left -= 1;
    if (left === 0) answered.resolve();
  });
  await answered.promise;
  // They have their share meanwhile: what ails is looked at.
  assert.ok(begun > 0);
  silent.resolve();
  await all;
  assert.equal(begun, 300);
});

test('where each namespace has one place, those that were silent have every other turn', async () => {
  const items = ['a', 'b'].flatMap((namespace) =>
    [...Array(10).keys()].map((index) => ({ metadata: { namespace }, isSlow: index >= 5 })),
  );
  const begun: boolean[] = [];
  await inTurns(items, { atOnce: 2, kube, isSlow: (item) => item.isSlow }, async ({ metadata, isSlow }) => {
    if (metadata.namespace === 'a') begun.push(isSlow);
    await Promise.resolve();
  });
  assert.deepEqual(begun.slice(0, 6), [false, true, false, true, false, true]);
});
