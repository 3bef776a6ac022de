import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { KubeObject } from '../../manifests/kube-types.ts';
import { authoritySecretName } from '../../manifests/render/certificate-names.ts';
import { clientServiceName, labels, labelsOf } from '../../manifests/render/names.ts';
import { type Resource, resources } from '../../reconcile/interfaces/kube.ts';
import { isConverged, isWhole } from './support/conditions.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { startWriter, type Writer } from './support/writer.ts';

const stage = scene({ fleet: false });

// Short: whatever is taken for gone is given up at once.
const healing = { podGracePeriod: '1s', memberGracePeriod: '1s' };

async function underWay(name: string): Promise<{ readonly writer: Writer; readonly members: readonly unknown[] }> {
  const { kubectl, namespace, tickUntil, access } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, { healing }) });
  const cluster = await tickUntil(name, isConverged, 90);
  const writer = startWriter(await access(name), 'labels');
  await until('fifty writes', async () => writer.acknowledged >= 50);
  return { writer, members: identities(cluster) };
}

function identities({ status }: EtcdCluster): readonly unknown[] {
  return (status?.members ?? []).map(({ name, id }) => ({ name, id }));
}

async function takeOff(resource: string, name: string, ...keys: readonly string[]): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['-n', namespace, 'label', resource, name, ...keys.map((key) => `${key}-`)]);
}

async function isLabelled([resource, object]: readonly [Resource, string], cluster: string): Promise<boolean> {
  const found = await stage().get<KubeObject>(resource, object);
  return Object.entries(labelsOf(cluster)).every(([key, value]) => found?.metadata.labels?.[key] === value);
}

async function nothingHappened(name: string, before: readonly unknown[], writer: Writer): Promise<void> {
  const cluster = await stage().cluster(name);
  assert.deepEqual(identities(cluster), before);
  const actions = new Set(cluster.status?.history?.map(({ action }) => action));
  for (const action of ['remove-member', 'retire-member', 'add-learner', 'restart-member', 'recreate-pod'])
    assert.ok(!actions.has(action), JSON.stringify(cluster.status?.history));
  const count = writer.acknowledged;
  await until('writes go on', async () => writer.acknowledged > count + 20);
  const { acknowledged, lost } = await writer.finish();
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
}

test('a tool removes the labels of a serving cluster: nothing is given up, and they come back', async () => {
  const name = 'bare';
  const { writer, members } = await underWay(name);
  const relabelled = [
    [resources.volumeClaims, `${name}-0`],
    [resources.peers, `${name}-1`],
    [resources.statefulSets, `${name}-2`],
    [resources.configMaps, `${name}-0`],
    [resources.services, clientServiceName(name)],
    [resources.disruptionBudgets, name],
  ] as const;
  for (const [resource, object] of relabelled) await takeOff(resource.plural, object, labels.managedBy, labels.cluster);
  await takeOff('secrets', authoritySecretName(name, 'peer'), labels.managedBy, labels.cluster);

  await until(
    'all labels are back, and the cluster at rest',
    async () => {
      const cluster = await stage().stepUntil(name, isConverged, 60);
      const back = await Promise.all(relabelled.map((object) => isLabelled(object, name)));
      return back.every(Boolean) && isWhole(cluster);
    },
    { within: 90 },
  );
  const { status } = await stage().cluster(name);
  const restored = status?.history?.find(({ action }) => action === 'restore-labels');
  assert.match(restored?.target ?? '', new RegExp(`${name}-1`));
  await nothingHappened(name, members, writer);
});
