import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pass } from '../../../functions/pass/pass.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdRestore } from '../../../manifests/api/etcd-restore.ts';
import { type Kube, resources } from '../../../reconcile/kube.ts';
import { etcdOf } from '../../support/world/etcd.ts';
import { wireOf } from '../../support/world/wire.ts';
import { createWorld, namespace, type World } from '../../support/world/world.ts';

async function onePass(world: World): Promise<readonly string[]> {
  const lists: string[] = [];
  const list: Kube['list'] = (resource, options) => {
    lists.push(resource.plural);
    return world.kube.list(resource, options);
  };
  await pass({
    kube: { ...world.kube, list },
    namespace,
    clusters: [],
    followUp: false,
    dryRun: false,
    waitMs: 0,
    etcd: async (tls) => etcdOf(world.state, tls),
    wire: wireOf(world.state),
    holder: { pod: 'etcd-ratchet/one', uid: 'one' },
    nonce: () => 'one'.padEnd(32, 'f'),
    log: () => undefined,
    signal: AbortSignal.timeout(20_000),
    deadline: Date.now() + 20_000,
  });
  return lists;
}

const restore: EtcdRestore = {
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdRestore',
  metadata: { name: 'again', namespace },
  spec: {
    from: { object: 'pvc://backups/a.db' },
    cluster: { name: 'orders', spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' } } },
  },
};

test('the cluster that a restore makes has its first step in the same pass', async () => {
  const world = createWorld();
  await world.kube.create<EtcdRestore>(resources.restores, restore);
  await onePass(world);
  const [made] = world.kube.stored<EtcdCluster>(resources.clusters);
  assert.equal(made?.status?.history?.at(-1)?.outcome, 'acted', JSON.stringify(made?.status?.conditions));
  const [told] = world.kube.stored<EtcdRestore>(resources.restores);
  assert.equal(told?.status?.conditions?.[0]?.reason, 'Restoring');
});

test('restores are listed once where none is under way', async () => {
  const lists = await onePass(createWorld());
  assert.deepEqual(
    lists.filter((plural) => plural === 'etcdrestores'),
    ['etcdrestores'],
  );
});
