import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pass } from '../../../functions/pass/pass.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { readMoving } from '../../../reconcile/cluster/observe/snapshot.ts';
import { digestOf } from '../../../reconcile/cluster/skipped-look.ts';
import { type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import { timestamp } from '../../../reconcile/time/timestamp.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { bornWith } from '../../support/world/born.ts';
import { passIn } from '../../support/world/passing.ts';
import type { World } from '../../support/world/world.ts';

const signal = AbortSignal.timeout(60_000);

/** So many like the one of the world, each in a namespace of its own, with what the last full look said. */
async function atRest(world: World, many: number): Promise<FakeKube> {
  const kube = createFakeKube({ clock: () => new Date(world.now()) });
  const copy = (resource: Resource, n: number) =>
    world.kube.stored<KubeObject>(resource).map((one) => {
      const { uid, name, ...metadata } = one.metadata;
      return { ...one, metadata: { ...metadata, name, namespace: `team-${n}`, uid: `${uid}-${n}` } };
    });
  for (let n = 0; n < many; n += 1)
    for (const resource of Object.values(resources).filter((one) => !('clusterScoped' in one)))
      kube.seed(resource, ...copy(resource, n));
  const { items } = await kube.list<EtcdCluster>(resources.clusters, { signal });
  const at = timestamp(new Date(world.now()));
  for (const one of await readMoving(kube, items, { signal }))
    await kube.updateStatus<EtcdCluster>(resources.clusters, {
      ...one.cluster,
      status: { ...(one.cluster.status ?? assert.fail()), fullLook: { at, seen: digestOf(one, {}) } },
    });
  return kube;
}

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
