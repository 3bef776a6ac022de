import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pass } from '../../../functions/pass/pass.ts';
import { bornWith } from '../../support/world/born.ts';
import { passIn } from '../../support/world/passing.ts';
import type { World } from '../../support/world/world.ts';
import { atRest } from './many-at-rest.ts';

async function asked(world: World, many: number): Promise<readonly string[]> {
  const kube = await atRest(world, many);
  const before = kube.journal().length;
  let healths = 0;
  const health = async () => {
    healths += 1;
    return true;
  };
  const untouched = { etcd: () => assert.fail('no etcd client'), wire: () => assert.fail('no certificate') };
  const { clusters } = await pass(passIn(world, { kube, namespace: undefined, health, ...untouched }));
  assert.deepEqual([clusters.length, healths], [many, 3 * many]);
  assert.deepEqual(new Set(clusters.map(({ look }) => look)), new Set(['skipped']));
  return kube
    .journal()
    .slice(before)
    .map(({ key }) => key);
}

test('a pass that finds nothing to do makes the same requests for 1, 100 and 1,000 clusters', async () => {
  const world = await bornWith({ replicas: 3 });
  world.advance(60);
  const one = await asked(world, 1);
  assert.ok(one.length <= 12, one.join('\n'));
  assert.ok(
    one.every((key) => key.startsWith('LIST ')),
    one.join('\n'),
  );
  for (const many of [100, 1_000]) assert.deepEqual(await asked(world, many), one);
});
