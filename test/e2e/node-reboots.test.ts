import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import type { EtcdNodePolicy } from '../../manifests/api/etcd-node-policy.ts';
import type { Node, Pod } from '../../manifests/kube-types.ts';
import { annotations } from '../../manifests/render/names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { isWholeOf } from './support/conditions.ts';
import { longestGapAllowed } from './support/gaps.ts';
import { startKnowingWriter } from './support/knowing-writer.ts';
import { lookNow } from './support/look-now.ts';
import { inOwnSandbox, startOwnCluster } from './support/own-cluster.ts';
import { openScene, type Scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { createWarmTicks } from './support/warm-ticks.ts';

const binaries = await inOwnSandbox();
const component = resolve(import.meta.dirname, '../../manifests/install/components/node-reboots');
const rebootsIn = 'etcd-ratchet-reboots';
const names = ['orders', 'carts', 'users'] as const;

async function nodesOf({ kube }: Scene): Promise<readonly Node[]> {
  return (await kube.list<Node>(resources.nodes, {})).items;
}

function bootsOf(nodes: readonly Node[]): Readonly<Record<string, string>> {
  return Object.fromEntries(nodes.map(({ metadata, status }) => [metadata.name, status?.nodeInfo?.bootID ?? '']));
}

function policyYaml(spec: Readonly<Record<string, unknown>> = {}): string {
  const about = { apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdNodePolicy', metadata: { name: 'all' } };
  return JSON.stringify({ ...about, spec: { nodeSelector: {}, ...spec } });
}

test('all nodes reboot one after the other under a writer, and no write is lost', async (t) => {
  await using _ = await startOwnCluster({ binaries });
  process.env.RATCHET_NODE_REBOOTS = rebootsIn;
  const scene = await openScene({ fleet: false });
  await using closing = new AsyncDisposableStack();
  closing.defer(() => scene.close());
  const { kube, kubectl, namespace, tickUntil } = scene;
  const warm = closing.use(createWarmTicks({ KUBECONFIG: process.env.KUBECONFIG ?? '' }));
  for (const file of ['namespace.yaml', 'agent-role.yaml'])
    await kubectl(['apply', '--server-side', '-f', resolve(component, file)]);
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: policyYaml() });
  for (const name of names)
    await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace) });
  for (const name of names) await tickUntil(name, isWholeOf(3), 180);
  const pods = await scene.list<Pod>(resources.pods);
  for (const name of names) {
    const own = pods.filter(({ metadata }) => metadata.name.startsWith(`${name}-`));
    assert.deepEqual(own.map(({ spec }) => spec.nodeName).toSorted(), ['node-1', 'node-2', 'node-3'], name);
  }

  const writers = await Promise.all(
    names.map(async (name) => ({ name, writer: await startKnowingWriter(kube, { namespace, name }, 'reboots') })),
  );
  let isFinished = false;
  closing.defer(async () => {
    if (!isFinished) await Promise.all(writers.map(({ writer }) => writer.finish()));
  });
  await until('fifty writes each', () => writers.every(({ writer }) => writer.acknowledged >= 50));
  for (const { writer } of writers) writer.longestGap();
  const before = bootsOf(await nodesOf(scene));

  // The foretelling begins with a full look, before anything happens.
  for (const name of names) await lookNow(scene, name);
  // A stranger's order names no Job: nothing comes of it.
  await kubectl(['annotate', 'node', 'node-2', `${annotations.rebootNow}=2026-01-01T00:00:00Z stranger`]);
  await warm.tick('--namespace', namespace);
  assert.deepEqual(bootsOf(await nodesOf(scene)), before);

  await kubectl(['annotate', 'nodes', '--all', `${annotations.rebootNeeded}=kernel`]);
  const { stdout: plan } = await scene.tick('--plan');
  assert.match(plan, /node policy all {2}3 reboots\n {2}1\. node-1 \(kernel\).*\n {2}2\. node-2 .*\n {2}3\. node-3 /);
  const started = performance.now();
  let ticks = 0;
  const policy = async () => {
    const found = await kube.get<EtcdNodePolicy>(resources.nodePolicies, undefined, 'all');
    return found ?? assert.fail('the policy is gone');
  };
  let last = '';
  await until(
    'all nodes are done',
    async () => {
      const { stderr } = await warm.tick('--namespace', namespace, '--wait=10');
      ticks += 1;
      const { status } = await policy();
      last = JSON.stringify(status) + stderr.slice(-1500);
      assert.ok((status?.grants?.length ?? 0) <= 1, `at most one at a time: ${last}`);
      return status?.done === 3 && status.inProgress === 0;
    },
    { within: 180, last: () => last },
  );
  t.diagnostic(`three reboots in ${((performance.now() - started) / 1000).toFixed(1)} s, ${ticks} invocations`);
  const nodes = await nodesOf(scene);
  const after = bootsOf(nodes);
  for (const [name, boot] of Object.entries(before)) assert.notEqual(after[name], boot, name);
  for (const { metadata, spec } of nodes) {
    assert.equal(spec?.unschedulable, undefined, metadata.name);
    assert.equal(metadata.annotations?.[annotations.rebootNeeded], undefined);
    assert.match(metadata.annotations?.[annotations.rebootDone] ?? '', /^\d{4}-.*Z [0-9a-f]{16}$/);
  }
  for (const name of names) await tickUntil(name, isWholeOf(3), 60);
  const gaps = writers.map(({ writer }) => writer.longestGap());
  isFinished = true;
  for (const [index, { name, writer }] of writers.entries()) {
    const { acknowledged, lost } = await writer.finish();
    const gap = gaps[index] ?? Number.POSITIVE_INFINITY;
    t.diagnostic(`${name}: longest gap ${gap.toFixed(0)} ms over ${acknowledged} writes`);
    assert.equal(lost, 0, `of ${acknowledged} acknowledged writes to ${name}`);
    assert.ok(gap < longestGapAllowed, `${name}: a gap of ${gap.toFixed(0)} ms`);
  }
  await assertAgentIsBound(scene);
});

/** By the admission policy of the component, as the Job's service account on a node. */
async function assertAgentIsBound({ kubectl }: Scene): Promise<void> {
  const put = async (node: string, from: string, change: (node: Node) => Node): Promise<string> => {
    const { metadata, ...rest } = JSON.parse(await kubectl(['get', 'node', node, '-o', 'json'])) as Node;
    // Whatever kubelet has told meanwhile: what is asked is whether the API server lets the change pass.
    const { resourceVersion: _, ...unversioned } = metadata;
    const found = { ...rest, metadata: unversioned };
    const as = [
      '--as=system:serviceaccount:etcd-ratchet-reboots:node-reboot',
      `--as-user-extra=authentication.kubernetes.io/node-name=${from}`,
    ];
    const stdin = JSON.stringify(change(found));
    return kubectl(['replace', '-f', '-', ...as], { stdin }).then(
      () => 'taken',
      (error: unknown) => String(error),
    );
  };
  const annotated = (key: string) => (node: Node) => ({
    ...node,
    metadata: { ...node.metadata, annotations: { ...node.metadata.annotations, [key]: 'x' } },
  });
  assert.equal(await put('node-1', 'node-1', annotated(annotations.rebootInProgress)), 'taken');
  assert.match(await put('node-1', 'node-2', annotated(annotations.rebootInProgress)), /the node that it runs on/);
  assert.match(await put('node-1', 'node-1', annotated(annotations.rebootGranted)), /no other annotation/);
  const cordoned = (node: Node) => ({ ...node, spec: { ...node.spec, unschedulable: true } });
  assert.match(await put('node-1', 'node-1', cordoned), /neither its spec nor its labels/);
}
