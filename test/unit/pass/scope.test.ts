import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pass } from '../../../functions/pass/pass.ts';
import type { PassContext } from '../../../functions/pass/pass-context.ts';
import { passIn } from '../../support/world/passing.ts';
import { createWorld, namespace } from '../../support/world/world.ts';

async function listedIn(options: Partial<PassContext>): Promise<readonly string[]> {
  const world = createWorld();
  await world.apply();
  const before = world.kube.journal().length;
  await pass(passIn(world, options));
  const asked = world.kube.journal().slice(before);
  return asked.flatMap(({ verb, resource }) => (verb === 'LIST' ? [resource.plural] : []));
}

const others = ['etcdbackups', 'etcdbackupschedules', 'etcdnodepolicies', 'etcdrestores'] as const;

test('an invocation about one cluster or one fleet lists no object of another kind', async () => {
  for (const about of [
    { clusters: [{ namespace, name: 'orders' }] },
    { fleet: { namespace, name: 'shop' } },
  ] satisfies Partial<PassContext>[]) {
    const listed = await listedIn(about);
    assert.deepEqual(
      others.filter((plural) => listed.includes(plural)),
      [],
      JSON.stringify(about),
    );
  }
});

test('an invocation about everything lists each other kind once', async () => {
  const listed = await listedIn({});
  for (const plural of others.filter((one) => one !== 'etcdnodepolicies'))
    assert.equal(listed.filter((one) => one === plural).length, 1, plural);
  assert.ok(listed.includes('etcdnodepolicies'));
});
