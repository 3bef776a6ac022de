import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { PersistentVolumeClaim, Pod, Service, StatefulSet } from '../../manifests/kube-types.ts';
import { annotations } from '../../manifests/render/names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { condition, isReady, isStalledFor } from './support/conditions.ts';
import { readKey, writeKey } from './support/keys.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';

const stage = scene({ fleet: false });

/**
 * Seconds for what waits for Kubernetes' garbage collector: it looks for new kinds only every 30 s, so the first
 * deletions of a young control plane's custom resources take it that long.
 */
const collection = 150;

async function apply(name: string, fields: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, fields) });
}

async function claimsOf(name: string): Promise<readonly PersistentVolumeClaim[]> {
  const claims = await stage().list<PersistentVolumeClaim>(resources.volumeClaims);
  return claims.filter(({ metadata }) => metadata.name.startsWith(`${name}-`));
}

test('the resource deleted and applied again goes on with its data, under the same cluster ID', async () => {
  const { kubectl, namespace, tickUntil } = stage();
  await apply('kept');
  const before = await tickUntil('kept', isReady);
  await writeKey(await stage().access('kept'), 'precious', 'still here');

  await kubectl(['-n', namespace, 'delete', 'etcdcluster', 'kept']);
  assert.equal((await claimsOf('kept')).length, 3, 'volumes outlive the resource');
  // An older version: what the volumes say is what counts.
  await apply('kept', { version: '3.5.35' });
  const after = await tickUntil('kept', (cluster) => cluster.status?.readyReplicas === 3, collection);
  assert.equal(after.status?.clusterID, before.status?.clusterID);
  assert.equal(await readKey(await stage().access('kept'), 'precious'), 'still here');

  const stalled = await tickUntil('kept', isStalledFor('DowngradeRefused'));
  assert.match(condition(stalled, 'Stalled')?.message ?? '', /To go on: set spec\.version to 3\.6\.16/);
  await apply('kept');
  await tickUntil('kept', isReady);
});

test('status that a backup tool dropped is rebuilt', async () => {
  const { tickUntil, cluster, kube } = stage();
  const before = await cluster('kept');
  await kube.updateStatus<EtcdCluster>(resources.clusters, { ...before, status: { observedGeneration: -1 } });
  const after = await tickUntil('kept', isReady);
  assert.equal(after.status?.clusterID, before.status?.clusterID);
  assert.deepEqual(
    after.status?.members?.map(({ name, id }) => [name, id]),
    before.status?.members?.map(({ name, id }) => [name, id]),
  );
});

test('what is deleted by hand is made again: peer, StatefulSet, ConfigMap, Service, budget', async () => {
  const { kubectl, namespace, tickUntil, get } = stage();
  const id = (await stage().cluster('kept')).status?.clusterID;
  const gone = [
    'etcdpeer/kept-0',
    'statefulset/kept-1',
    'configmap/kept-2',
    'service/kept',
    'service/kept-peers',
    'pdb/kept',
  ];
  await kubectl(['-n', namespace, 'delete', ...gone]);
  await tickUntil('kept', (cluster) => isReady(cluster) && cluster.status?.readyReplicas === 3, collection);
  assert.equal((await stage().cluster('kept')).status?.clusterID, id);
  for (const resource of [resources.services, resources.disruptionBudgets]) assert.ok(await get(resource, 'kept'));
  assert.ok(await get<StatefulSet>(resources.statefulSets, 'kept-1'));
  assert.equal(await readKey(await stage().access('kept'), 'precious'), 'still here');
});

test('a suspended or paused cluster is observed, and nothing else', async () => {
  const { kubectl, namespace, tick, tickUntil, get } = stage();
  await kubectl(['-n', namespace, 'annotate', 'etcdcluster', 'kept', 'etcd.ratchet.dev/paused=maintenance']);
  await kubectl(['-n', namespace, 'delete', 'service', 'kept-peers']);
  await tickUntil('kept', (cluster) => condition(cluster, 'Ready')?.reason === 'Paused');
  await tick();
  assert.equal(await get(resources.services, 'kept-peers'), undefined);
  await kubectl(['-n', namespace, 'annotate', 'etcdcluster', 'kept', 'etcd.ratchet.dev/paused-']);
  await tickUntil('kept', isReady);
  assert.ok(await get(resources.services, 'kept-peers'));

  await apply('kept', { suspend: true });
  await tickUntil('kept', (cluster) => condition(cluster, 'Ready')?.reason === 'Suspended');
  await apply('kept');
});

test('a foreign object with a name that we need is left alone, and named', async () => {
  const { kubectl, namespace, tickUntil, get } = stage();
  await kubectl(['-n', namespace, 'create', 'service', 'clusterip', 'taken-peers', '--tcp=80']);
  await apply('taken', { replicas: 1 });
  const stalled = await tickUntil('taken', isStalledFor('NameTaken'));
  assert.match(condition(stalled, 'Stalled')?.message ?? '', /Service named taken-peers/);
  assert.equal((await get<Service>(resources.services, 'taken-peers'))?.spec.ports?.[0]?.port, 80);
  await kubectl(['-n', namespace, 'delete', 'service', 'taken-peers']);
  // What was refused is tried again after a while, and at once when a look is asked for.
  await kubectl(['-n', namespace, 'annotate', 'etcdcluster', 'taken', 'etcd.ratchet.dev/reconcile=now']);
  await tickUntil('taken', isReady);
});

test('deleted with policy Delete, a cluster takes exactly its own volumes along', async () => {
  const { kubectl, namespace, ticksUntil, get } = stage();
  await apply('gone', { replicas: 1, volumeRetention: { whenDeleted: 'Delete' } });
  await stage().tickUntil('gone', isReady);
  await kubectl(['-n', namespace, 'delete', 'etcdcluster', 'gone', '--wait=false']);
  await ticksUntil(
    'gone with its volume',
    async () => (await get(resources.clusters, 'gone')) === undefined && (await claimsOf('gone')).length === 0,
    { within: collection },
  );
  assert.equal((await claimsOf('kept')).length, 3);
});

test('with all its volumes gone a cluster is never started empty', async () => {
  const { kubectl, namespace, tick, tickUntil, list } = stage();
  await apply('emptied', { replicas: 1 });
  await tickUntil('emptied', isReady);
  await kubectl(['-n', namespace, 'delete', 'pvc', 'emptied-0', '--wait=false']);
  await kubectl(['-n', namespace, 'delete', 'pod', 'emptied-0-0', '--grace-period=0', '--force']);
  await until('the volume is gone', async () => (await claimsOf('emptied')).length === 0);
  const stalled = await tickUntil('emptied', isStalledFor('AllVolumesGone'));
  assert.match(condition(stalled, 'Stalled')?.message ?? '', /never starts empty/);
  await tick();
  assert.deepEqual(await claimsOf('emptied'), []);
  const pods = (await list<Pod>(resources.pods)).filter(({ metadata }) => metadata.name === 'emptied-0-0');
  assert.ok(
    pods.every(({ status }) => status?.phase === 'Pending'),
    'nothing runs',
  );
});

test('volumes remember the token of their birth', async () => {
  const tokens = (await claimsOf('kept')).map(({ metadata }) => metadata.annotations?.[annotations.token]);
  assert.equal(new Set(tokens).size, 1);
  assert.match(tokens[0] ?? '', /^\w{16,}$/);
});
