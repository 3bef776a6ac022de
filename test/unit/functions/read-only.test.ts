import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dryRunOnly, readOnly } from '../../../functions/pass/read-only.ts';
import { type Kube, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';

const object = { metadata: { namespace: 'n', name: 'o', uid: 'u', resourceVersion: '1' } };
const account = { namespace: 'n', name: 'fleet' };

/** Every way to write that there is, but for dry runs: a new one does not compile until it is here. */
const writes = {
  create: (kube) => kube.create(resources.clusters, object),
  update: (kube) => kube.update(resources.clusters, object),
  updateStatus: (kube) => kube.updateStatus(resources.clusters, object),
  apply: (kube) => kube.apply(resources.clusters, object, { fieldManager: 'm' }),
  delete: (kube) => kube.delete(resources.clusters, 'n', 'o', { preconditions: { uid: 'u' } }),
  evict: (kube) => kube.evict('n', 'o', { preconditions: {} }),
} as const satisfies Record<
  Exclude<
    keyof Kube,
    'list' | 'get' | 'watch' | 'dryRun' | 'as' | 'bounded' | 'leftOut' | 'now' | 'requests' | 'close'
  >,
  (kube: Kube) => Promise<unknown>
>;

for (const [name, guard] of Object.entries({ readOnly, dryRunOnly })) {
  for (const [verb, write] of Object.entries(writes)) {
    test(`through ${name} ${verb} is never sent, as any account`, async () => {
      const fake = createFakeKube();
      const kube = guard(fake);
      for (const as of [
        kube,
        kube.as(account),
        kube.as(account).as(account),
        kube.bounded(),
        kube.bounded().as(account),
      ])
        await assert.rejects(write(as), /nothing may be written here/);
      assert.deepEqual(fake.journal(), []);
    });
  }
}

test('a dry run passes where dry runs may, and leaves nothing', async () => {
  const fake = createFakeKube();
  const options = { fieldManager: 'm', dryRun: true };
  await assert.rejects(readOnly(fake).as(account).apply(resources.clusters, object, options));
  const fresh = { metadata: { namespace: 'n', name: 'o' } };
  await assert.rejects(readOnly(fake).dryRun(resources.clusters, fresh), /nothing may be written here/);
  await dryRunOnly(fake).as(account).apply(resources.clusters, fresh, options);
  await dryRunOnly(fake).as(account).dryRun(resources.clusters, fresh);
  assert.deepEqual(
    fake.journal().map(({ key, dryRun }) => [key, dryRun]),
    [
      ['PATCH etcdclusters', true],
      ['POST etcdclusters', true],
    ],
  );
  assert.deepEqual(fake.stored(resources.clusters), []);
});
