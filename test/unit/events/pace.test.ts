import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPace } from '../../../functions/serve/events/pace.ts';
import { gathering } from '../../../functions/serve/sharing.ts';

test('a source that sends too much waits, and another does not', () => {
  let now = 0;
  const pace = createPace(() => now);
  const started = (source: string, times: number) =>
    Array.from({ length: times }, () => pace.mayStart(source)).filter(Boolean).length;
  assert.equal(started('/a', 100), 8);
  assert.equal(started('/b', 1), 1);
  now += 3_000;
  assert.equal(started('/a', 100), 3);
});

test('any number of made-up sources starts no more than all together may', () => {
  const pace = createPace(() => 0);
  assert.equal(Array.from({ length: 10_000 }, (_, n) => pace.mayStart(`/${n}`)).filter(Boolean).length, 16);
});

test('what is asked for while work waits or runs is done together, and all get its answer', async () => {
  const held = Promise.withResolvers<void>();
  const seen: (readonly number[])[] = [];
  const gather = gathering(1, async (all: readonly number[]) => {
    seen.push(all);
    await held.promise;
    return all.length;
  });
  const [first, second] = [gather([1]), gather([2])];
  while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const third = gather([3]);
  held.resolve();
  assert.deepEqual(await Promise.all([first, second, third]), [2, 2, 1]);
  assert.deepEqual(seen, [[1, 2], [3]]);
});

test('a failure is told to all who waited for it, and the next is begun all the same', async () => {
  let isBroken = true;
  const gather = gathering(1, async () => {
    if (isBroken) throw new Error('no');
  });
  await assert.rejects(gather([1]), /no/);
  isBroken = false;
  await gather([2]);
});
