import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim, Pod, Service } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { isReady, isWhole } from './support/conditions.ts';
import { readKey, writeKey } from './support/keys.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';

const stage = scene();

/** No two members on one node, and there are three nodes. */
const apart = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        {
          topologyKey: 'kubernetes.io/hostname',
          labelSelector: { matchLabels: { 'etcd.ratchet.dev/cluster': 'orders' } },
        },
      ],
    },
  },
};

test('a birth of 5 with room for 3 is corrected to 3 by a push, and those that ran go on', async () => {
  const { push, tickUntil, namespace, list, get, access } = stage();
  const commit = (replicas: number) =>
    push({ 'clusters/orders.yaml': clusterYaml('orders', namespace, { replicas, podTemplate: { spec: apart } }) });
  const pods = async () =>
    (await list<Pod>(resources.pods)).filter(({ metadata }) => metadata.name.startsWith('orders-'));
  const running = async () =>
    (await pods())
      .filter(({ status }) => status?.podIP !== undefined)
      .map(({ metadata }) => metadata.uid ?? '')
      .toSorted();
  const volumes = async () =>
    (await list<PersistentVolumeClaim>(resources.volumeClaims)).filter(({ metadata }) =>
      metadata.name.startsWith('orders-'),
    );

  await commit(5);
  await tickUntil('orders', ({ status }) => status?.members?.filter(({ id }) => id !== undefined).length === 5, 90);
  await tickUntil('orders', (cluster) => cluster.status?.lastDecision?.reason === 'PodUnscheduled', 60);
  const before = await until('three of them run', async () => {
    const found = await running();
    return found.length === 3 && found;
  });
  assert.equal(await get<Service>(resources.services, 'orders'), undefined, 'no client was admitted');

  await commit(3);
  const cluster = await tickUntil(
    'orders',
    (found) => isReady(found) && isWhole(found) && found.spec.replicas === 3,
    120,
  );
  assert.equal(cluster.status?.members?.length, 3);
  assert.deepEqual((await pods()).map(({ metadata }) => metadata.uid).toSorted(), before, 'nobody was started anew');
  assert.equal((await volumes()).length, 3);
  const way = await access('orders');
  await writeKey(way, 'hello', 'world');
  assert.equal(await readKey(way, 'hello'), 'world');
});
