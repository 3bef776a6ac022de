import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim, Pod } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { condition, isReady, isStalledFor, isWhole } from './support/conditions.ts';
import { node } from './support/node.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';

const stage = scene({ fleet: false, clearedBetween: true });
const healing = { podGracePeriod: '10s', memberGracePeriod: '10s' };

async function apply(name: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, fields) });
}

async function volumesOf(name: string): Promise<readonly string[]> {
  const claims = await stage().list<PersistentVolumeClaim>(resources.volumeClaims);
  return claims
    .flatMap(({ metadata }) => (metadata.name.startsWith(`${name}-`) ? [metadata.uid ?? ''] : []))
    .toSorted();
}

test('a member that is OOMKilled in a loop keeps its volume, and its limit is named', async () => {
  const { namespace, tickUntil, get } = stage();
  await apply('hungry', { healing, resources: { limits: { memory: '512Mi' } } });
  const before = await tickUntil('hungry', isWhole, 90);
  const volumes = await volumesOf('hungry');
  await node().squeezeContainer(namespace, 'hungry-1-0', 'etcd', 1 << 20);
  const stalled = await tickUntil('hungry', isStalledFor('OutOfMemory'), 90);
  assert.match(condition(stalled, 'Stalled')?.message ?? '', /hungry-1 .*512Mi.*spec\.resources\.limits\.memory/);
  // Longer than the grace after which a member whose data are the cause is replaced.
  const since = Date.parse(stalled.status?.members?.find(({ name }) => name === 'hungry-1')?.unhealthySince ?? '');
  // Between two starts of its container, it is down for a moment, and no more.
  const outlasted = await tickUntil(
    'hungry',
    ({ status }) => Date.now() - since > 25_000 && status?.lastDecision?.reason === 'OutOfMemory',
  );
  const reasons = (outlasted.status?.history ?? []).map(({ reason }) => reason);
  assert.ok(!reasons.includes('ReplacingMember'), reasons.join());
  await node().squeezeContainer(namespace, 'hungry-1-0', 'etcd', 0);
  const after = await tickUntil('hungry', isWhole, 90);
  const members = (cluster: typeof after) => cluster.status?.members?.map(({ name, id }) => [name, id]);
  assert.deepEqual(members(after), members(before));
  assert.deepEqual(await volumesOf('hungry'), volumes);
  const pod = await get<Pod>(resources.pods, 'hungry-1-0');
  assert.equal(pod?.status?.containerStatuses?.[0]?.lastState?.terminated?.reason, 'OOMKilled');
});

test('a limit that is too low for all is named at birth, and raising it is the cure', async () => {
  const { tickUntil, ticksUntil, get, kubectl, namespace } = stage();
  const cured = { replicas: 1, healing, resources: { limits: { memory: '512Mi' } } };
  await apply('starved', { ...cured, resources: { limits: { memory: '2Mi' } } });
  await tickUntil('starved', isStalledFor('OutOfMemory'), 90);
  await apply('starved', cured);
  // When it was killed is by chance: before the first entry of its log, it never goes on.
  const isCut = isStalledFor('BirthCutShort');
  const raised = await tickUntil('starved', (cluster) => isReady(cluster) || isCut(cluster), 240);
  if (isReady(raised)) return;
  assert.match(condition(raised, 'Stalled')?.message ?? '', /starved-0 was killed .*with its PersistentVolumeClaims/);
  await kubectl(['-n', namespace, 'delete', 'etcdcluster.etcd.ratchet.dev', 'starved', '--wait=false']);
  await ticksUntil('it is gone', async () => (await get(resources.clusters, 'starved')) === undefined);
  await kubectl(['-n', namespace, 'delete', 'pvc', 'starved-0']);
  await apply('starved', cured);
  await tickUntil('starved', isReady, 90);
});
