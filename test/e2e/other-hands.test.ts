import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, StatefulSet } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { isConverged } from './support/conditions.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { startWriter } from './support/writer.ts';

const stage = scene({ fleet: false });

const name = 'orders';
const members = [0, 1, 2].map((ordinal) => `${name}-${ordinal}`);

async function within(...args: readonly string[]): Promise<string> {
  const { kubectl, namespace } = stage();
  return kubectl(['-n', namespace, ...args]);
}

async function pods(): Promise<readonly (string | undefined)[]> {
  const found = await stage().list<Pod>(resources.pods);
  const ours = found.filter(({ metadata }) => members.includes(metadata.name.replace(/-0$/, '')));
  return ours.map(({ metadata }) => metadata.uid).toSorted();
}

async function generations(): Promise<readonly (number | undefined)[]> {
  const sets = await Promise.all(members.map((member) => stage().get<StatefulSet>(resources.statefulSets, member)));
  return sets.map((set) => set?.metadata.generation);
}

async function lastSteps(): Promise<readonly string[]> {
  const { status } = await stage().cluster(name);
  return (status?.history ?? []).map(({ action, message }) => `${action}: ${message}`);
}

test('kubectl changes images, flags and replicas: all is put back, and no member restarts on it', async () => {
  const { kubectl, namespace, tickUntil, access } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace) });
  await tickUntil(name, isConverged, 120);
  const writer = startWriter(await access(name), 'hands');
  await until('fifty writes', async () => writer.acknowledged >= 50);
  const before = await pods();
  const made = await generations();
  assert.deepEqual(made, [1, 1, 1], 'the real API server serves what we wrote as ours');

  for (const member of members) {
    await within('set', 'image', `statefulset/${member}`, 'etcd=quay.io/coreos/etcd:v3.7.3');
    const flag = [{ op: 'add', path: '/spec/template/spec/containers/0/args/-', value: '--unsafe-no-fsync=true' }];
    await within('patch', 'statefulset', member, '--type=json', '-p', JSON.stringify(flag));
  }
  await tickUntil(name, isConverged, 120);
  assert.match(
    (await lastSteps()).at(-1) ?? '',
    /^put-back-templates: .*containers\[etcd\]\.image.* of StatefulSet orders-0/,
  );
  assert.deepEqual(await pods(), before, 'no pod was made anew');

  await within('scale', '--replicas=0', ...members.map((member) => `statefulset/${member}`));
  await until('all pods are gone', async () => (await pods()).length === 0);
  await tickUntil(name, isConverged, 120);
  assert.match(
    (await lastSteps()).at(-1) ?? '',
    /^put-back-templates: .*spec\.replicas of StatefulSet orders-0 .*its member is stopped/,
  );
  assert.equal((await pods()).length, 3);

  const scaled = await generations();
  await within('rollout', 'restart', ...members.map((member) => `statefulset/${member}`));
  const stopped = await pods();
  await tickUntil(name, isConverged, 180);
  const restarted = await pods();
  assert.ok(!restarted.some((uid) => stopped.includes(uid)), 'kubectl rollout restart is honoured');
  assert.deepEqual(
    await generations(),
    scaled.map((generation) => (generation ?? 0) + 1),
    'nothing was put back for it',
  );
  const { acknowledged, lost } = await writer.finish();
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
});
