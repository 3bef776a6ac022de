/**
 * PVCs that come back under their names, with all their annotations, on disks that are older than what their members
 * acknowledged.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '../../manifests/api/metadata.ts';
import type { ConfigMap, PersistentVolumeClaim, Pod } from '../../manifests/kube-types.ts';
import { annotations } from '../../manifests/render/names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { approvalAskedBy, approve } from './support/approvals.ts';
import { condition, isStalledFor, isWhole } from './support/conditions.ts';
import { copyDisk, type DiskCopy, restoreClaim } from './support/disks.ts';
import { readKey, writeKey } from './support/keys.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { startWriter } from './support/writer.ts';

const stage = scene({ fleet: false, clearedBetween: true });
const healing = { podGracePeriod: '5s', memberGracePeriod: '15s' };

async function apply(name: string): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, { healing }) });
}

async function loseClaims(names: readonly string[]): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['-n', namespace, 'delete', 'pvc', ...names, '--wait=false']);
  const pods = names.map((name) => `${name}-0`);
  await kubectl(['-n', namespace, 'delete', 'pod', ...pods, '--grace-period=1', '--ignore-not-found']);
}

async function stop(name: string): Promise<void> {
  const { kubectl, namespace, get } = stage();
  await kubectl(['-n', namespace, 'delete', 'etcdcluster', name]);
  for (const ordinal of [0, 1, 2])
    await until('the pod ends', async () => !(await get<Pod>(resources.pods, `${name}-${ordinal}-0`)));
}

function etcdOf(pod: Pod | undefined) {
  return pod?.status?.containerStatuses?.find(({ name }) => name === 'etcd');
}

test('on an older disk under the old name etcd is not started, and the member is replaced', async () => {
  const { kube, kubectl, namespace, get, tick, tickUntil, access } = stage();
  await apply('older');
  const ready = await tickUntil('older', isWhole, 120);
  const writer = startWriter(await access('older'), 'acknowledged');
  await until('fifty writes', async () => writer.acknowledged >= 50);
  const victim = ready.status?.members?.find((member) => member.name !== ready.status?.leader)?.name ?? '';
  const sealed = await get<PersistentVolumeClaim>(resources.volumeClaims, victim);
  assert.equal(
    sealed?.metadata.annotations?.[annotations.disk],
    `${sealed?.spec.volumeName} -`,
    'hostPath has no handle',
  );
  const copy = await copyDisk(kube, namespace, victim);
  const before = writer.acknowledged;
  await until('writes that the copy lacks', async () => writer.acknowledged > before + 20);

  // No step is taken while all this happens.
  await loseClaims([victim]);
  await restoreClaim(kube, copy);
  await until('the ConfigMap to be collected with its claim', async () => {
    return (await get<ConfigMap>(resources.configMaps, victim)) === undefined;
  });
  await until('a pod that kubelet does not start', async () => {
    const pod = await get<Pod>(resources.pods, `${victim}-0`);
    return etcdOf(pod)?.state?.waiting?.reason === 'CreateContainerConfigError';
  });
  const restored = await get<PersistentVolumeClaim>(resources.volumeClaims, victim);
  assert.equal(restored?.metadata.annotations?.[annotations.volumeState], 'sealed');
  assert.notEqual(restored?.spec.volumeName, sealed?.spec.volumeName);

  const words = /may be a copy from before its last writes/;
  const isTold = ({ reason = '', message = '' }: Partial<Condition>) => reason === 'MemberDown' && words.test(message);
  await tickUntil('older', (found) => isTold(condition(found, 'Ready') ?? {}), 60);
  assert.equal(etcdOf(await get<Pod>(resources.pods, `${victim}-0`))?.state?.running, undefined);
  await tick();
  const healed = await tickUntil('older', isWhole, 180);
  assert.ok(healed.status?.members?.every((member) => member.name !== victim));
  const kept = await get<PersistentVolumeClaim>(resources.volumeClaims, victim);
  assert.equal(kept?.metadata.annotations?.[annotations.evidence], 'true');
  const { acknowledged, lost } = await writer.finish();
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
  await kubectl(['-n', namespace, 'delete', 'etcdcluster', 'older']);
});

test('without a quorum a person is told what may be lost, and approves exactly these disks', async () => {
  const { kube, namespace, get, list, tickUntil, access } = stage();
  const names = ['restored-0', 'restored-1', 'restored-2'] as const;
  await apply('restored');
  await tickUntil('restored', isWhole, 120);
  await writeKey(await access('restored'), 'before', 'in every copy');
  const copies: DiskCopy[] = [];
  for (const name of names) copies.push(await copyDisk(kube, namespace, name));
  await writeKey(await access('restored'), 'after', 'in no copy');

  // Two of three PVCs are gone, and one of them comes back older: the third has everything.
  await loseClaims(['restored-1', 'restored-2']);
  const [, , last] = copies;
  assert.ok(last);
  await restoreClaim(kube, last);
  const one = await tickUntil('restored', isStalledFor('AnotherDisk'), 120);
  assert.match(
    condition(one, 'Stalled')?.message ?? '',
    /writes that it acknowledged after that copy was made may be lost/,
  );
  assert.equal(etcdOf(await get<Pod>(resources.pods, 'restored-2-0'))?.state?.running, undefined);
  await approve(stage(), one.metadata.name, approvalAskedBy(one));
  await tickUntil('restored', isWhole, 240);
  assert.equal(await readKey(await access('restored'), 'after'), 'in no copy');

  // All PVCs come back from copies that were made while the cluster was whole.
  await stop('restored');
  const claims = (await list<PersistentVolumeClaim>(resources.volumeClaims)).map(({ metadata }) => metadata.name);
  await loseClaims(claims.filter((name) => name.startsWith('restored-')));
  for (const copy of copies) await restoreClaim(kube, copy);
  await apply('restored');
  const all = await tickUntil('restored', isStalledFor('AllDisksRestored'), 120);
  for (const name of names) assert.equal(etcdOf(await get<Pod>(resources.pods, `${name}-0`)), undefined);
  await approve(stage(), all.metadata.name, approvalAskedBy(all));
  const back = await tickUntil('restored', isWhole, 240);
  assert.equal(back.status?.members?.length, 3);
  assert.equal(await readKey(await access('restored'), 'before'), 'in every copy');
  assert.equal(await readKey(await access('restored'), 'after'), null, 'what the copies held, and nothing else');
});
