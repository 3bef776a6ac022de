import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { condition, isReady, isStalledFor } from './support/conditions.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { startWriter, type Writer } from './support/writer.ts';

const stage = scene({ fleet: false });

const healing = { podGracePeriod: '5s', memberGracePeriod: '20s' };

const isWhole = (cluster: EtcdCluster) =>
  isReady(cluster) && cluster.status?.lastDecision?.reason === 'Converged' && cluster.status.readyReplicas === 3;

async function underWay(
  name: string,
): Promise<{ readonly writer: Writer; readonly leader: string; readonly others: readonly string[] }> {
  const { kubectl, namespace, tickUntil, access } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, { healing }) });
  const cluster = await tickUntil(name, isWhole, 90);
  const writer = startWriter(await access(name), 'recovering');
  await until('fifty writes', async () => writer.acknowledged >= 50);
  const leader = cluster.status?.leader ?? assert.fail('no leader');
  const others = [0, 1, 2].map((ordinal) => `${name}-${ordinal}`).filter((one) => one !== leader);
  return { writer, leader, others };
}

/** Their claims are deleted, and their pods, which had kept them. */
async function loseVolumes(names: readonly string[]): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['-n', namespace, 'delete', 'pvc', ...names, '--wait=false']);
  await kubectl(['-n', namespace, 'delete', 'pod', ...names.map((name) => `${name}-0`), '--grace-period=1']);
}

async function approve(name: string, text: string): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl([
    '-n',
    namespace,
    'annotate',
    '--overwrite',
    'etcdcluster',
    name,
    `etcd.ratchet.dev/recover-quorum=${text}`,
  ]);
}

function approvalIn(cluster: EtcdCluster): string {
  const message = condition(cluster, 'Stalled')?.message ?? '';
  return /recover-quorum=(\S+)$/.exec(message)?.[1] ?? assert.fail(message);
}

test('two of three volumes are gone: a person approves what is said to be lost, and nothing that was acknowledged is missing', async () => {
  const name = 'lossy';
  const { tickUntil, cluster } = stage();
  const { writer, leader, others } = await underWay(name);
  await loseVolumes(others);
  const stalled = await tickUntil(name, isStalledFor('QuorumLost'), 60);
  const said = condition(stalled, 'Stalled')?.message ?? '';
  for (const lost of others) assert.ok(said.includes(`${lost} (its volume is gone)`), said);
  assert.ok(said.includes(`${leader} has the most data`), said);
  assert.equal(condition(stalled, 'Available')?.status, 'False');

  await approve(name, `${stalled.status?.clusterID}/000000000000`);
  const refused = await tickUntil(name, (found) => /void/.test(condition(found, 'Stalled')?.message ?? ''), 30);
  assert.equal(condition(refused, 'Stalled')?.reason, 'QuorumLost');

  await approve(name, approvalIn(refused));
  const whole = await tickUntil(name, isWhole, 240);
  assert.equal(whole.status?.clusterID, stalled.status?.clusterID);
  const steps = (await cluster(name)).status?.history?.map(({ reason, target }) => `${reason} ${target}`) ?? [];
  console.log(steps.join('\n'));
  const before = writer.acknowledged;
  await until('writes go on', async () => writer.acknowledged > before + 20);
  const { acknowledged, lost } = await writer.finish();
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
});
