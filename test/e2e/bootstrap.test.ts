import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap, PersistentVolumeClaim, Pod, StatefulSet } from '../../manifests/kube-types.ts';
import { parseInitialCluster } from '../../manifests/render/initial-cluster.ts';
import { annotations } from '../../manifests/render/names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { condition, isReady } from './support/conditions.ts';
import { assertForetold, foretell } from './support/foretold.ts';
import { scene } from './support/scene.ts';
import { until } from './support/until.ts';
import { startWriter } from './support/writer.ts';

const stage = scene();

for (const replicas of [1, 3]) {
  test(`a push becomes a healthy cluster of ${replicas}, and its commit a success`, async (t) => {
    const { pushCluster, coldTick, tickUntil, ticksUntil, list, get, forge, fleet } = stage();
    const name = `born-${replicas}`;
    const sha = await pushCluster(name, { replicas });
    const foretold = await foretell(stage(), name);
    const first = await coldTick();
    assert.equal(first.code, 0, first.stderr);
    assert.equal(
      forge.statusesOf(sha).get('etcd-ratchet/fleet')?.state,
      'pending',
      JSON.stringify((await fleet()).status),
    );

    const cluster = await tickUntil(name, isReady);
    t.diagnostic(assertForetold(foretold, cluster));
    assert.equal(cluster.status?.readyReplicas, replicas);
    assert.equal(condition(cluster, 'Available')?.status, 'True');
    assert.equal(new Set(cluster.status?.members?.map(({ id }) => id)).size, replicas);

    const claims = (await list<PersistentVolumeClaim>(resources.volumeClaims)).filter(({ metadata }) =>
      metadata.name.startsWith(`${name}-`),
    );
    assert.equal(claims.length, replicas);
    const said = claims.map(({ metadata }) => metadata.annotations ?? {});
    assert.deepEqual([...new Set(said.map((found) => found[annotations.volumeState]))], ['sealed']);
    assert.equal(new Set(said.map((found) => found[annotations.token])).size, 1, 'one token');
    assert.deepEqual([...new Set(said.map((found) => found[annotations.clusterId]))], [cluster.status?.clusterID]);

    const configMap = await get<ConfigMap>(resources.configMaps, `${name}-0`);
    assert.equal(configMap?.immutable, true);
    const list0 = parseInitialCluster(configMap?.data?.ETCD_INITIAL_CLUSTER ?? '');
    assert.ok(
      'members' in list0 && list0.members.every((member) => !member.name.startsWith(name)),
      'the seal names nobody of ours',
    );

    await ticksUntil('the commit a success', () => {
      return forge.statusesOf(sha).get('etcd-ratchet/fleet')?.state === 'success';
    });
  });
}

test('a converged cluster is left alone: ticks write nothing to it', async () => {
  const { coldTick, list } = stage();
  await until('their controller has told all that is to be told of StatefulSets', async () => {
    const sets = await list<StatefulSet>(resources.statefulSets);
    return sets.every(({ metadata, status }) => {
      return status?.observedGeneration === metadata.generation && status?.readyReplicas === 1;
    });
  });
  // On a busy machine a member may not answer in time, which a tick has to report: two that saw all well are compared.
  const isAtRest = async () => (await coldTick('--detailed-exitcode')).code === 0;
  const [before, after] = await until('two ticks after each other that leave nothing to do', async () => {
    if (!(await isAtRest())) return undefined;
    const found = await versions();
    return (await isAtRest()) && ([found, await versions()] as const);
  });
  assert.deepEqual(after, before);

  async function versions() {
    const all = await Promise.all(
      [resources.clusters, resources.peers, resources.volumeClaims, resources.configMaps, resources.statefulSets].map(
        (resource) => list(resource),
      ),
    );
    return all.flat().map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
  }
});

test('all pods killed at once come back with everything that was acknowledged', async () => {
  const { list, access, tickUntil, kubectl, namespace } = stage();
  const pods = await podsOf('born-3');
  const writer = startWriter(await access('born-3'), 'throughout');
  await until('fifty writes', async () => writer.acknowledged >= 50);

  await kubectl([
    '-n',
    namespace,
    'delete',
    'pods',
    ...pods.map(({ metadata }) => metadata.name),
    '--grace-period=0',
    '--force',
  ]);
  await tickUntil('born-3', (cluster) => isReady(cluster) && cluster.status?.readyReplicas === 3);
  const again = await podsOf('born-3');
  assert.ok(
    again.every(({ metadata }) => !pods.some((pod) => pod.metadata.uid === metadata.uid)),
    'they are new pods',
  );
  const before = writer.acknowledged;
  await until('writes go on', async () => writer.acknowledged > before + 10);
  const { acknowledged, lost, longestGap } = await writer.finish();
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes; longest gap ${Math.round(longestGap)} ms`);

  async function podsOf(name: string): Promise<readonly Pod[]> {
    return (await list<Pod>(resources.pods)).filter(({ metadata }) => metadata.name.startsWith(`${name}-`));
  }
});
