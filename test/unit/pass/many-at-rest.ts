import assert from 'node:assert/strict';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { readMoving } from '../../../reconcile/cluster/observe/snapshot.ts';
import { digestOf } from '../../../reconcile/cluster/skipped-look.ts';
import { type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import { timestamp } from '../../../reconcile/time/timestamp.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import type { World } from '../../support/world/world.ts';

const signal = AbortSignal.timeout(60_000);

/** So many like the one of the world, each in a namespace of its own, with what the last full look said. */
export async function atRest(world: World, many: number): Promise<FakeKube> {
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
