import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pass } from '../../../functions/pass/pass.ts';
import type { PassContext } from '../../../functions/pass/pass-context.ts';
import { render } from '../../../functions/tick/output.ts';
import { passIn } from '../../support/world/passing.ts';
import { createWorld, namespace } from '../../support/world/world.ts';

async function passed(options: Partial<PassContext>) {
  const world = createWorld();
  await world.apply();
  const before = world.kube.journal().length;
  const result = await pass(passIn(world, options));
  return { result, asked: world.kube.journal().slice(before) };
}

async function listedIn(options: Partial<PassContext>): Promise<readonly string[]> {
  const { asked } = await passed(options);
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

test('the JSON of a tick has no key for a kind that was not looked at', async () => {
  async function shown(options: Partial<PassContext>): Promise<readonly string[]> {
    const { result } = await passed(options);
    return Object.keys(JSON.parse(render(result, { output: 'json', clusters: [] }, { requests: {} })) as object);
  }
  assert.deepEqual(await shown({}), ['fleets', 'clusters', 'backups', 'nodes', 'workRemains', 'requests']);
  assert.ok(!(await shown({ rebootsIn: undefined })).includes('nodes'));
  const ofOne = await shown({ clusters: [{ namespace, name: 'orders' }] });
  assert.deepEqual(ofOne, ['fleets', 'clusters', 'workRemains', 'requests']);
});
