import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod } from '../../manifests/kube-types.ts';
import { podName } from '../../manifests/render/names.ts';
import { KubeError, resources } from '../../reconcile/interfaces/kube.ts';
import { condition, isConverged } from './support/conditions.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';

/** As `kubectl drain` asks: by the Eviction API, which the real API server answers. */

const stage = scene({ fleet: false, clearedBetween: true });

type Word = 'Refuse' | 'Allow';

async function converged(name: string, replicas: number, word?: Word): Promise<EtcdCluster> {
  const { kubectl, namespace, tickUntil } = stage();
  const disruption = word && { disruption: { whenQuorumIsLost: word } };
  await kubectl(['apply', '--server-side', '-f', '-'], {
    stdin: clusterYaml(name, namespace, { replicas, ...disruption }),
  });
  const isDone = (found: EtcdCluster) =>
    isConverged(found) && found.status?.observedGeneration === found.metadata.generation;
  return tickUntil(name, isDone, 90);
}

/** `evicted`, or what the API server says instead. */
async function evict(name: string): Promise<string> {
  const { kube, namespace, get } = stage();
  const { uid = '', resourceVersion = '' } = (await get<Pod>(resources.pods, podName(name)))?.metadata ?? {};
  try {
    await kube.evict(namespace, podName(name), { preconditions: { uid, resourceVersion } });
    return 'evicted';
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return `${error.status}`;
  }
}

/** The disruption controller counts the pods of a new or changed budget before it allows anything. */
async function evictWhenCounted(name: string): Promise<void> {
  const before = await stage().get<Pod>(resources.pods, podName(name));
  await until(`${name} is evicted`, async () => (await evict(name)) === 'evicted');
  await until('its pod is another one, and Ready', async () => {
    const found = await stage().get<Pod>(resources.pods, podName(name));
    const isReady = found?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
    return found?.metadata.uid !== before?.metadata.uid && isReady;
  });
}

async function budgetOf(name: string): Promise<number | string | undefined> {
  const budgets = await stage().list<{ metadata: { name: string }; spec: { minAvailable?: number | string } }>(
    resources.disruptionBudgets,
  );
  return budgets.find(({ metadata }) => metadata.name === name)?.spec.minAvailable;
}

test('a cluster that never came up holds no drain: there is no quorum to keep', async () => {
  const { kubectl, namespace, get, tickUntil } = stage();
  const name = 'unborn';
  // etcd does not know what it is told, and exits.
  const etcd = { extraArgs: { 'max-txn-ops': 'none' } };
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, { replicas: 3, etcd }) });
  await tickUntil(name, ({ status }) => (status?.members ?? []).length === 3, 90);
  await until('its pods run, and none is Ready', async () => {
    const pods = await Promise.all([0, 1, 2].map((ordinal) => get<Pod>(resources.pods, podName(`${name}-${ordinal}`))));
    return pods.every((pod) => pod?.status?.phase === 'Running');
  });
  assert.equal(await budgetOf(name), undefined);
  // kubelet writes the status of a pod now and then: a conflict is asked again.
  for (const ordinal of [0, 1, 2])
    await until('it is evicted', async () => (await evictIn(`${name}-${ordinal}`)) === 'evicted');
});

/** A budget refuses at once. */
async function evictIn(name: string): Promise<string> {
  const said = await evict(name);
  assert.notEqual(said, '429');
  return said;
}

test('two members: a drain is refused, the condition says why, and the spec can allow it', async () => {
  const name = 'pair';
  const refused = condition(await converged(name, 2), 'Drainable');
  assert.deepEqual([refused?.status, refused?.reason], ['False', 'QuorumNeedsEveryMember']);
  assert.match(refused?.message ?? '', /spec\.replicas to 3, .*spec\.disruption\.whenQuorumIsLost to Allow/);
  assert.equal(await budgetOf(name), 2);
  assert.equal(await evict(`${name}-0`), '429');
  assert.equal(await evict(`${name}-1`), '429');

  const allowed = condition(await converged(name, 2, 'Allow'), 'Drainable');
  assert.deepEqual([allowed?.status, allowed?.reason], ['True', 'QuorumLossAllowed']);
  assert.equal(await budgetOf(name), 1);
  await evictWhenCounted(`${name}-1`);
  const { status } = await converged(name, 2, 'Allow');
  assert.deepEqual(
    status?.members?.map(({ name, healthy }) => `${name} ${healthy}`),
    [`${name}-0 true`, `${name}-1 true`],
  );
  assert.ok(!status?.history?.some(({ action }) => action === 'remove-member'), JSON.stringify(status?.history));
});

test('one member: its node can be drained, the condition says so, and the spec can refuse it', async () => {
  const name = 'single';
  const allowed = condition(await converged(name, 1), 'Drainable');
  assert.deepEqual([allowed?.status, allowed?.reason], ['True', 'QuorumLossAllowed']);
  assert.equal(await budgetOf(name), undefined);
  await evictWhenCounted(`${name}-0`);

  const refused = condition(await converged(name, 1, 'Refuse'), 'Drainable');
  assert.deepEqual([refused?.status, refused?.reason], ['False', 'QuorumNeedsEveryMember']);
  assert.equal(await budgetOf(name), 1);
  assert.equal(await evict(`${name}-0`), '429');
});
