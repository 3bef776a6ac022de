import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { Pod } from '../../../manifests/kube-types.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { condition, isWhole } from '../../e2e/support/conditions.ts';
import { openScene } from '../../e2e/support/scene.ts';
import { clusterYaml } from '../../e2e/support/specs.ts';
import { until } from '../../e2e/support/until.ts';
import { clusterForTests } from './cluster.ts';

/** With nodes of its own, because they are cordoned, filled and deleted: the scheduler is the real one. */
const stages: Awaited<ReturnType<typeof openScene>>[] = [];
const {
  kubectl,
  kubeconfigPath,
  node: inProcess,
} = await clusterForTests(async () => {
  for (const opened of stages) await opened.close();
});
await kubectl(['apply', '--server-side', '-k', resolve(import.meta.dirname, '../../../manifests/install/crds')]);
process.env.KUBECONFIG = kubeconfigPath;
stages.push(await openScene({ fleet: false }));
const stage = () => stages[0] ?? assert.fail('no scene');

const name = 'orders';
const memberGraceMs = 25_000;
const healing = { podGracePeriod: '5s', memberGracePeriod: `${memberGraceMs / 1000}s` };
const etcdRequests = { resources: { requests: { cpu: '500m', memory: '64Mi' } } };

async function born(): Promise<EtcdCluster> {
  const { namespace, tickUntil } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], {
    stdin: clusterYaml(name, namespace, { healing, ...etcdRequests }),
  });
  return tickUntil(name, isWhole, 120);
}

async function nodeOf(member: string): Promise<string> {
  const pod = await stage().get<Pod>(resources.pods, `${member}-0`);
  return pod?.spec.nodeName ?? assert.fail(`${member} is on no node`);
}

/** Takes all the room that is left on a node, and nothing runs in it. */
async function fill(node: string): Promise<void> {
  const { namespace } = stage();
  const filler = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'filler', namespace },
    spec: {
      nodeName: node,
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'a', image: 'never/pulled:1', resources: { requests: { cpu: '7900m' } } }],
    },
  };
  await kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(filler) });
}

async function whyUnscheduled(member: string): Promise<string | undefined> {
  const pod = await stage().get<Pod>(resources.pods, `${member}-0`);
  const scheduled = pod?.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return pod?.spec.nodeName === undefined && scheduled?.status === 'False' ? scheduled.message : undefined;
}

function idsOf({ status }: EtcdCluster): readonly (string | undefined)[] {
  return (status?.members ?? []).map(({ id }) => id).toSorted();
}

/** All of these have been unhealthy for half as long again as a member gets. */
function outlastedBy(members: readonly string[]): (cluster: EtcdCluster) => boolean {
  return ({ status }) => {
    const down = (status?.members ?? []).filter((member) => members.includes(member.name));
    const ages = down.map(({ unhealthySince = '' }) => Date.now() - Date.parse(unhealthySince));
    return ages.length === members.length && ages.every((age) => age > 1.5 * memberGraceMs);
  };
}

test('a cordoned and a full node cost no member, and offer no approval, however long it takes', async () => {
  const { namespace, tickUntil } = stage();
  const before = await born();
  const [cordoned = '', full = ''] = await Promise.all([nodeOf('orders-1'), nodeOf('orders-2')]);
  assert.notEqual(cordoned, full, 'each member is on a node of its own');
  await kubectl(['cordon', cordoned]);
  await fill(full);
  await kubectl(['-n', namespace, 'delete', 'pod', 'orders-1-0', 'orders-2-0']);
  await until('the scheduler names the volumes', async () => {
    const said = await Promise.all(['orders-1', 'orders-2'].map(whyUnscheduled));
    return said.every((sentence) => /PersistentVolume/.test(sentence ?? ''));
  });

  const long = await tickUntil(name, outlastedBy(['orders-1', 'orders-2']), 120);
  const stalled = condition(long, 'Stalled');
  assert.equal(stalled?.reason, 'PodUnscheduled');
  assert.match(stalled?.message ?? '', /To go on: make room/);
  assert.equal(long.status?.approvals, undefined);

  await kubectl(['uncordon', cordoned]);
  const one = await tickUntil(name, ({ status }) => status?.lastDecision?.reason === 'PodUnscheduled');
  assert.deepEqual(idsOf(one), idsOf(before));
  await kubectl(['-n', namespace, 'delete', 'pod', 'filler']);
  const after = await tickUntil(name, isWhole);
  assert.deepEqual(idsOf(after), idsOf(before), 'the same three members');
});

test('a node that was deleted costs its member, which is replaced elsewhere', async () => {
  const { namespace, tickUntil } = stage();
  const dead = await nodeOf('orders-2');
  await inProcess?.loseNode(dead);
  await kubectl(['delete', 'node', dead]);
  // Kubernetes does the same by itself, after a minute.
  await kubectl(['-n', namespace, 'delete', 'pod', 'orders-2-0', '--force', '--grace-period=0']);
  const healed = await tickUntil(
    name,
    (cluster) => isWhole(cluster) && cluster.status?.members?.every((member) => member.name !== 'orders-2') === true,
    150,
  );
  const replacing = healed.status?.history?.find(({ reason }) => reason === 'ReplacingMember');
  assert.notEqual(replacing, undefined);
});
