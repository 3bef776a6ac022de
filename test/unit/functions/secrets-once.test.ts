import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secretsOnce } from '../../../functions/pass/secret.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKubeOptions } from '../../support/fakes/kube.ts';

function stage(options: FakeKubeOptions = {}) {
  const fake = createFakeKube(options);
  const seed = (namespace: string, uid: string) =>
    fake.seed(resources.secrets, { metadata: { namespace, name: 'forge', uid } });
  seed('a', 'of-a');
  seed('b', 'of-b');
  const kube = secretsOnce(fake);
  const uid = async (namespace: string, name = 'forge') =>
    (await kube.get(resources.secrets, namespace, name, {}))?.metadata.uid;
  return { fake, kube, seed, uid, asked: () => fake.journal().length };
}

test('a Secret is read once per namespace, and everything else as often as asked', async () => {
  const { kube, uid, asked } = stage();
  for (let times = 0; times < 3; times++) assert.deepEqual([await uid('a'), await uid('b')], ['of-a', 'of-b']);
  assert.equal(asked(), 2);
  for (let times = 0; times < 3; times++) await kube.get(resources.configMaps, 'a', 'forge', {});
  assert.equal(asked(), 5);
});

test('what was not there, or could not be read, is asked for again', async () => {
  let isDown = false;
  const { fake, uid } = stage({
    before: () => {
      if (isDown) throw new KubeError('down', { class: 'retryable', reason: 'Timeout' });
    },
  });
  assert.equal(await uid('a', 'late'), undefined);
  fake.seed(resources.secrets, { metadata: { namespace: 'a', name: 'late', uid: 'here' } });
  assert.equal(await uid('a', 'late'), 'here');
  isDown = true;
  await assert.rejects(uid('a'), KubeError);
  isDown = false;
  assert.equal(await uid('a'), 'of-a');
});

test('the next pass reads it anew', async () => {
  const { fake, seed, uid } = stage();
  assert.equal(await uid('a'), 'of-a');
  seed('a', 'rotated');
  assert.equal((await secretsOnce(fake).get(resources.secrets, 'a', 'forge', {}))?.metadata.uid, 'rotated');
});
