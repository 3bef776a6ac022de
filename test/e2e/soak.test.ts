import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { isReady } from './support/conditions.ts';
import { startKnowingWriter } from './support/knowing-writer.ts';
import { makeLeader } from './support/lead.ts';
import { scene } from './support/scene.ts';
import { until } from './support/until.ts';

const stage = scene();
const healing = { podGracePeriod: '5s', memberGracePeriod: '25s' };
const next = { version: '3.6.16', update: { soak: '72h' }, healing };

function versionsOf({ status }: EtcdCluster): readonly string[] {
  return (status?.members ?? []).map(({ version = '' }) => version).toSorted();
}

function soaks(...versions: readonly string[]): (cluster: EtcdCluster) => boolean {
  return (cluster) =>
    cluster.status?.lastDecision?.reason === 'Soaking' &&
    cluster.status.membersReady === '3/3' &&
    versionsOf(cluster).join() === versions.join();
}

function namesOn(version: string, { status }: EtcdCluster): readonly [string, string] {
  const [first, second, ...others] = (status?.members ?? []).filter((member) => member.version === version);
  assert.ok(first && second && others.length === 0, `not two members on ${version}`);
  return [first.name, second.name];
}

test('while a minor soaks, a lost member comes back on the one before, and all can go back', async (t) => {
  const { kubectl, kube, namespace, tickUntil } = stage();
  await stage().pushCluster('soaked', { version: '3.5.35', healing });
  await tickUntil('soaked', isReady);
  const writer = await startKnowingWriter(kube, { namespace, name: 'soaked' }, 'soak');
  await until('fifty writes', async () => writer.acknowledged >= 50);

  await stage().pushCluster('soaked', next);
  const soaking = await tickUntil('soaked', soaks('3.5.35', '3.6.16', '3.6.16'), 120);
  assert.equal(soaking.status?.clusterVersion, '3.5.0');
  assert.match((await stage().tick('--plan')).stdout, /not before \S+Z: giving soaked-\d etcd 3\.6\.16/);

  // What a leader of 3.6 sends, a member of 3.5 takes.
  const [leader, lost] = namesOn('3.6.16', soaking);
  await makeLeader(stage(), 'soaked', leader);
  await kubectl(['-n', namespace, 'delete', 'pvc', lost, '--wait=false']);
  await kubectl(['-n', namespace, 'delete', 'pod', `${lost}-0`, '--grace-period=1']);
  const healed = await tickUntil('soaked', soaks('3.5.35', '3.5.35', '3.6.16'), 240);
  assert.deepEqual([healed.status?.leader, healed.status?.soak], [leader, soaking.status?.soak]);

  await stage().pushCluster('soaked', { ...next, version: '3.5.35' });
  const back = await tickUntil(
    'soaked',
    (found) => isReady(found) && versionsOf(found).every((version) => version === '3.5.35'),
    120,
  );
  assert.equal(back.status?.soak, undefined);

  await stage().pushCluster('soaked', next);
  await tickUntil('soaked', soaks('3.5.35', '3.6.16', '3.6.16'), 120);
  const { update: _, ...atOnce } = next;
  await stage().pushCluster('soaked', atOnce);
  const done = await tickUntil('soaked', (found) => isReady(found) && found.status?.clusterVersion === '3.6.0', 120);
  assert.deepEqual(new Set(versionsOf(done)), new Set(['3.6.16']));
  const { acknowledged, lost: missing } = await writer.finish();
  assert.equal(missing, 0, `of ${acknowledged} acknowledged writes`);
  t.diagnostic(`${acknowledged} writes`);
});
