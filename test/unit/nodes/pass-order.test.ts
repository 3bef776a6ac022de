import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pass } from '../../../functions/pass/pass.ts';
import { passIn } from '../../support/world/passing.ts';
import { createWorld } from '../../support/world/world.ts';

test('a pass looks at node policies after the first step of each cluster', async () => {
  const world = createWorld();
  await world.apply();
  const { kube } = world;
  await pass(passIn(world));
  const keys = kube.journal().map(({ key }) => key);
  const stepped = keys.lastIndexOf('PUT etcdclusters/status');
  const looked = keys.indexOf('LIST etcdnodepolicies');
  assert.ok(stepped >= 0 && looked > stepped, keys.join());
});
