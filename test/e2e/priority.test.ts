import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { after, test } from 'node:test';
import type { Pod, StatefulSet } from '../../manifests/kube-types.ts';
import { memberPriorityClass } from '../../manifests/render/member-defaults.ts';
import { type KubeObject, resources } from '../../reconcile/interfaces/kube.ts';
import { isWholeOf } from './support/conditions.ts';
import { inOwnSandbox, startOwnCluster } from './support/own-cluster.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';

const binaries = await inOwnSandbox();
const own = await startOwnCluster({ binaries, nodes: 1 });
const stage = scene({ fleet: false });
after(() => own.stop());
const classes = resolve(import.meta.dirname, '../../manifests/install/cluster/priority.yaml');

/** What the API server's admission makes of a pod. */
type Admitted = Pod & {
  readonly spec: { readonly priority?: number };
  readonly status?: { readonly qosClass?: string };
};

async function born(name: string): Promise<Admitted> {
  const { kubectl, namespace, tickUntil, get } = stage();
  const plain = { replicas: 1, tls: { mode: 'Disabled' } };
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, plain) });
  await tickUntil(name, isWholeOf(1), 90);
  const pod = await get<Admitted>(resources.pods, `${name}-0-0`);
  return pod ?? assert.fail(`there is no pod ${name}-0-0`);
}

test('without our priority class a cluster is born, and its pod is not the first to be evicted', async () => {
  assert.equal(await stage().kube.get(resources.priorityClasses, undefined, memberPriorityClass), undefined);
  const { spec, status } = await born('plain');
  assert.equal(status?.qosClass, 'Burstable');
  assert.equal(spec.priority, 0);
});

test('with it, a cluster that is born bears it, and one that is there is left alone', async () => {
  const { kubectl, get, tick } = stage();
  const before = await get<StatefulSet>(resources.statefulSets, 'plain-0');
  await kubectl(['apply', '--server-side', '-f', classes]);
  const { spec, status } = await born('first');
  assert.deepEqual([status?.qosClass, spec.priorityClassName], ['Burstable', memberPriorityClass]);
  assert.equal(spec.priority, 100_000_000);
  await tick();
  const after = await get<KubeObject>(resources.statefulSets, 'plain-0');
  assert.equal(after?.metadata.generation, before?.metadata.generation);
});
