import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import type { EtcdNodePolicy } from '../../manifests/api/etcd-node-policy.ts';
import type { Job, Node } from '../../manifests/kube-types.ts';
import { annotations } from '../../manifests/render/names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { condition, isWholeOf } from './support/conditions.ts';
import { dyingUntilSo } from './support/deaths.ts';
import { startKnowingWriter } from './support/knowing-writer.ts';
import { node } from './support/node.ts';
import { inOwnSandbox, startOwnCluster } from './support/own-cluster.ts';
import { openScene, type Scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { createWarmTicks, type WarmTicks } from './support/warm-ticks.ts';

/** A reboot whose invocations all die, and a node that never returns. */

const binaries = await inOwnSandbox();
const component = resolve(import.meta.dirname, '../../manifests/install/components/node-reboots');
const rebootsIn = 'etcd-ratchet-reboots';
const healing = { podGracePeriod: '10s', memberGracePeriod: '25s' };

async function nodeNamed({ kube }: Scene, name: string): Promise<Node> {
  const found = await kube.get<Node>(resources.nodes, undefined, name);
  return found ?? assert.fail(`there is no node ${name}`);
}

async function policyOf({ kube }: Scene): Promise<EtcdNodePolicy> {
  const found = await kube.get<EtcdNodePolicy>(resources.nodePolicies, undefined, 'one');
  return found ?? assert.fail('the policy is gone');
}

async function applyPolicy({ kubectl }: Scene, hostname: string, spec: Readonly<Record<string, unknown>>) {
  const about = { apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdNodePolicy', metadata: { name: 'one' } };
  const nodeSelector = { 'kubernetes.io/hostname': hostname };
  await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], {
    stdin: JSON.stringify({ ...about, spec: { nodeSelector, ...spec } }),
  });
}

test('a reboot that a sentinel asks for ends well, though an invocation dies at each write', async (t) => {
  await using _ = await startOwnCluster({ binaries });
  process.env.RATCHET_NODE_REBOOTS = rebootsIn;
  const scene = await openScene({ fleet: false });
  await using closing = new AsyncDisposableStack();
  closing.defer(() => scene.close());
  const { kube, kubectl, namespace, tickUntil } = scene;
  const warm = closing.use(createWarmTicks({ KUBECONFIG: process.env.KUBECONFIG ?? '' }));
  for (const file of ['namespace.yaml', 'agent-role.yaml'])
    await kubectl(['apply', '--server-side', '-f', resolve(component, file)]);
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml('orders', namespace, { healing }) });
  await tickUntil('orders', isWholeOf(3), 180);
  const writer = await startKnowingWriter(kube, { namespace, name: 'orders' }, 'deaths');
  let isFinished = false;
  closing.defer(async () => {
    if (!isFinished) await writer.finish();
  });
  await until('fifty writes', () => writer.acknowledged >= 50);

  // Of the host: the pod of a look sees that directory, and nothing else of it.
  const directory = await mkdtemp(join(tmpdir(), 'sentinel-'));
  closing.defer(() => rm(directory, { recursive: true }));
  await chmod(directory, 0o755);
  const path = join(directory, 'reboot-required');
  await writeFile(path, '');
  const boots = new Set([(await nodeNamed(scene, 'node-1')).status?.nodeInfo?.bootID]);
  await applyPolicy(scene, 'node-1', { sentinel: { path, every: '10m' } });
  const places = await dyingUntilSo(scene, 'orders', {
    args: ['--namespace', namespace],
    dies: 'everywhere',
    within: 420,
    until: async () => {
      const { metadata, status } = await nodeNamed(scene, 'node-1');
      boots.add(status?.nodeInfo?.bootID);
      if (metadata.annotations?.[annotations.rebootNeeded] !== undefined) await rm(path, { force: true });
      return (await policyOf(scene)).status?.done === 1;
    },
  });
  t.diagnostic(`${places.length} deaths`);
  for (const [what, place] of [
    ['a look', /POST jobs look/],
    ['what it found', /PUT node with .*reboot-looked.*reboot-needed|PUT node with .*reboot-needed/],
    ['the grant', /PUT policy with 1 grants/],
    ['the cordon', /PUT node with .*reboot-cordoned/],
    ['the lease of the cluster', /evict-for-reboot: lease/],
    ['the eviction', /POST \S*eviction/],
    ['the Job', /POST jobs reboot/],
    ['the order', /PUT node with .*reboot-now/],
    ['the return', /PUT node with .*reboot-returned/],
    ['the end', /PUT node with .*reboot-done/],
  ] as const)
    assert.ok(
      places.some((line) => place.test(line)),
      `an invocation died at ${what}:\n${places.join('\n')}`,
    );
  const { metadata, spec, status } = await nodeNamed(scene, 'node-1');
  boots.add(status?.nodeInfo?.bootID);
  assert.equal(boots.size, 2, 'it rebooted once');
  assert.equal(spec?.unschedulable, undefined);
  const left = Object.keys(metadata.annotations ?? {}).filter((key) =>
    /reboot-(granted|cordoned|now|in|ret|nee)/.test(key),
  );
  assert.deepEqual(left, []);
  const jobs = (await kube.list<Job>(resources.jobs, { namespace: rebootsIn })).items;
  assert.ok(
    jobs.every(({ status: is }) => (is?.active ?? 0) === 0),
    'no agent is left',
  );
  await tickUntil('orders', isWholeOf(3), 60);
  await neverReturns(scene, warm);
  isFinished = true;
  const { acknowledged, lost } = await writer.finish();
  assert.equal(lost, 0, `of ${acknowledged} acknowledged writes`);
});

/** By tooling of one's own, whose machine does not come up again. */
async function neverReturns(scene: Scene, warm: WarmTicks): Promise<void> {
  const { kubectl, namespace, tickUntil } = scene;
  const told = () => policyOf(scene).then(({ status }) => status);
  await applyPolicy(scene, 'node-3', { reboot: { method: 'External', timeout: '1m' } });
  await kubectl(['annotate', 'node', 'node-3', `${annotations.rebootNeeded}=kernel`]);
  const tick = () => warm.tick('--namespace', namespace, '--wait=2');
  await until(
    'the order is given',
    async () => {
      await tick();
      return (await told())?.grants?.[0]?.ordered !== undefined;
    },
    { within: 90 },
  );
  await kubectl(['annotate', 'node', 'node-3', `${annotations.rebootNow}-`]);
  await node().loseNode('node-3');
  await until(
    'the node is told as stuck',
    async () => {
      await tick();
      const status = await told();
      return condition({ status } as EtcdNodePolicy, 'Stalled')?.reason === 'NodeNotBack';
    },
    { within: 180 },
  );
  // Its volume is lost with the Node object: the member is replaced as usual, and the policy gives the node up.
  await kubectl(['delete', 'node', 'node-3', '--wait=false']);
  const whole = await tickUntil(
    'orders',
    (cluster) => isWholeOf(3)(cluster) && cluster.status?.members?.length === 3,
    180,
  );
  assert.ok(
    whole.status?.members?.some(({ name }) => !/-[012]$/.test(name)),
    'another member has come',
  );
  await until(
    'the grant is dropped',
    async () => {
      await tick();
      return ((await told())?.inProgress ?? 0) === 0;
    },
    { within: 120 },
  );
}
