import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { condition, isReady, isStalledFor } from './support/conditions.ts';
import { assertForetold, foretell } from './support/foretold.ts';
import { scene } from './support/scene.ts';

const stage = scene();

async function commit(name: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const { pushCluster } = stage();
  await pushCluster(name, fields);
}

test('a birth with a storage class that does not exist is cured by a commit', async () => {
  const { tickUntil, list } = stage();
  await commit('class', { storage: { size: '1Gi', storageClassName: 'nonexistent' } });
  await tickUntil(
    'class',
    ({ status }) => condition({ ...(status && { status }) }, 'Reconciling')?.reason === 'WaitingForQuorum',
  );
  await commit('class', { storage: { size: '1Gi', storageClassName: 'standard' } });
  await tickUntil('class', isReady);
  const claims = await list<PersistentVolumeClaim>(resources.volumeClaims);
  assert.deepEqual([...new Set(claims.map(({ spec }) => spec.storageClassName))], ['standard']);
});

test('a birth that no node has the memory for is cured by a commit', async () => {
  const { tickUntil } = stage();
  await commit('memory', { replicas: 1, resources: { requests: { memory: '900Ti' } } });
  const waiting = await tickUntil('memory', (cluster) =>
    /finds no node/.test(condition(cluster, 'Reconciling')?.message ?? ''),
  );
  assert.match(condition(waiting, 'Reconciling')?.message ?? '', /kubectl -n \S+ describe pod memory-0-0/);
  await commit('memory', { replicas: 1, resources: { requests: { memory: '64Mi' } } });
  await tickUntil('memory', isReady);
});

test('a flag that etcd does not know stops the members; taking it back starts them', async () => {
  const { tickUntil } = stage();
  await commit('flag', { replicas: 1, etcd: { extraArgs: { 'no-such-flag': 'true' } } });
  await tickUntil('flag', isStalledFor('MemberKeepsExiting'), 90);
  await commit('flag', { replicas: 1 });
  await tickUntil('flag', isReady);
});

test('volumes grow in place while the members run', async (t) => {
  const { tickUntil, get } = stage();
  await commit('flag', { replicas: 1, storage: { size: '2Gi' } });
  const foretold = await foretell(stage(), 'flag');
  t.diagnostic(assertForetold(foretold, await tickUntil('flag', isReady)));
  const grown = await get<PersistentVolumeClaim>(resources.volumeClaims, 'flag-0');
  assert.equal(grown?.spec.resources.requests?.storage, '2Gi');
  assert.equal(grown.status?.capacity?.storage, '2Gi', 'it is Ready when it has grown, not when it was asked to');
});
