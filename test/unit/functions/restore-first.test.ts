import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pass } from '../../../functions/pass/pass.ts';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdRestore } from '../../../manifests/api/etcd-restore.ts';
import {
  type Kube,
  KubeError,
  type KubeObject,
  type ListOptions,
  type Resource,
  resources,
} from '../../../reconcile/interfaces/kube.ts';
import { etcdOf } from '../../support/world/etcd.ts';
import { wireOf } from '../../support/world/wire.ts';
import { createWorld, namespace, type World } from '../../support/world/world.ts';

async function onePass(world: World, more: Partial<Kube> = {}): Promise<readonly string[]> {
  const lists: string[] = [];
  const list: Kube['list'] = (resource, options) => {
    lists.push(resource.plural);
    return world.kube.list(resource, options);
  };
  await pass({
    kube: { ...world.kube, list, ...more },
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

test('clusters are listed anew only after a restore that made one', async () => {
  const clusterLists = async (more?: Partial<Kube>) => {
    const world = createWorld();
    await world.kube.create<EtcdRestore>(resources.restores, more ? ofBackup : restore);
    return (await onePass(world, more)).filter((plural) => plural === 'etcdclusters').length;
  };
  const made = await clusterLists();
  for (const kind of ['precondition', 'retryable'] as const) {
    const updateStatus = async () => {
      throw new KubeError('not now', { class: kind, status: undefined, reason: 'Conflict' });
    };
    assert.equal(await clusterLists({ updateStatus }), made - 1, kind);
  }
});

test('restores are listed once where none is under way', async () => {
  const lists = await onePass(createWorld());
  assert.deepEqual(
    lists.filter((plural) => plural === 'etcdrestores'),
    ['etcdrestores'],
  );
});

const { from: _, ...withoutFrom } = restore.spec;
const ofBackup: EtcdRestore = { ...restore, spec: { ...withoutFrom, backupName: 'last' } };
const backup: EtcdBackup = {
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdBackup',
  metadata: { name: 'last', namespace },
  spec: { clusterName: 'not-there', to: { object: 'gs://backups/1.db', gcs: { keySecretName: 'key' } } },
};

async function waiting(): Promise<World> {
  const world = createWorld();
  await world.kube.create<EtcdBackup>(resources.backups, backup);
  await world.kube.create<EtcdRestore>(resources.restores, ofBackup);
  await onePass(world);
  const [told] = world.kube.stored<EtcdRestore>(resources.restores);
  assert.equal(told?.status?.conditions?.[0]?.reason, 'BackupNotReady');
  return world;
}

test('a restore begins in the pass in which its backup becomes Ready', async () => {
  const world = await waiting();
  const told = (await world.kube.get<EtcdBackup>(resources.backups, namespace, 'last')) ?? backup;
  const proven = {
    observedGeneration: 1,
    object: 'gs://backups/1.db',
    clusterID: 'c1c1',
    sha256: 'a'.repeat(64),
    revision: 12,
    etcdVersion: '3.6.16',
    finishedAt: '2026-01-01T00:00:00Z',
    conditions: [
      { type: 'Ready', status: 'True', reason: 'Taken', message: 'x', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ],
  } as const;
  let isOver = false;
  // As if its Job ended between the first look of this pass at restores, and the step of the backup.
  const list: Kube['list'] = async <T extends KubeObject>(resource: Resource, options: ListOptions) => {
    const found = await world.kube.list<T>(resource, options);
    if (resource.plural === 'etcdbackups' && !isOver) {
      isOver = true;
      await world.kube.updateStatus<EtcdBackup>(resources.backups, { ...told, status: proven });
    }
    return found;
  };
  await onePass(world, { list });
  assert.equal(world.kube.stored<EtcdCluster>(resources.clusters).length, 1);
});

test('restores are listed once in a pass whose backups stay as they are', async () => {
  const lists = await onePass(await waiting());
  assert.equal(lists.filter((plural) => plural === 'etcdrestores').length, 1);
});
