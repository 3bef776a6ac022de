import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lookedAt } from '../../../functions/serve/events/step.ts';
import { bornWith } from '../../support/world/born.ts';

test('what changes after a skipped look is news, although a later list of the pass had it', async () => {
  const world = await bornWith({ replicas: 3 });
  world.skipLooks();
  const looks = [];
  for (let n = 0; n < 2; n += 1) looks.push((await world.tick()) ?? assert.fail());
  assert.deepEqual(
    looks.map(({ look }) => look),
    [undefined, 'skipped'],
  );
  assert.deepEqual(
    looks.map((one) => [...lookedAt([one])]),
    [['shop/orders'], []],
  );
});
