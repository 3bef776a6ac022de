import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim, Pod } from '../../manifests/kube-types.ts';
import { peerLabels } from '../../manifests/render/names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { etcdVersions } from '../support/cluster/binaries.ts';
import { approvalAskedBy, approve } from './support/approvals.ts';
import { condition, isStalledFor, isWhole, isWholeOf } from './support/conditions.ts';
import { readKey, writeKey } from './support/keys.ts';
import { node } from './support/node.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { startWriter, type Writer } from './support/writer.ts';

const stage = scene({ fleet: false });

const healing = { podGracePeriod: '5s', memberGracePeriod: '20s' };

async function born(
  name: string,
  fields: Readonly<Record<string, unknown>> & { readonly replicas?: number } = {},
): Promise<{ readonly leader: string; readonly others: readonly string[] }> {
  const { kubectl, namespace, tickUntil } = stage();
  const stdin = clusterYaml(name, namespace, { healing, ...fields });
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin });
  const { status } = await tickUntil(name, isWholeOf(fields.replicas ?? 3), 90);
  const leader = status?.leader ?? assert.fail('no leader');
  const others = (status?.members ?? []).map((member) => member.name).filter((one) => one !== leader);
  return { leader, others };
}

async function underWay(
  name: string,
  fields: Parameters<typeof born>[1],
): Promise<Awaited<ReturnType<typeof born>> & { readonly writer: Writer }> {
  const who = await born(name, fields);
  const writer = startWriter(await stage().access(name), 'recovering');
  await until('fifty writes', async () => writer.acknowledged >= 50);
  return { ...who, writer };
}

/** Their PVCs are deleted, and their pods, which had kept them. */
async function loseVolumes(names: readonly string[]): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['-n', namespace, 'delete', 'pvc', ...names, '--wait=false']);
  await kubectl(['-n', namespace, 'delete', 'pod', ...names.map((name) => `${name}-0`), '--grace-period=1']);
}

test('a power cut leaves two of four: the log on each disk is shown before a person approves', async () => {
  const name = 'cut';
  const { kubectl, namespace, tickUntil, access } = stage();
  const { leader, others } = await born(name, { replicas: 4 });
  const client = await access(name);
  await writeKey(client, 'before', 'kept');
  const [left = assert.fail(), ...lost] = others;
  await loseVolumes(lost);
  await kubectl(['-n', namespace, 'delete', 'pod', `${leader}-0`, `${left}-0`, '--grace-period=1']);
  const stalled = await tickUntil(name, isStalledFor('QuorumLost', { unchanged: true }), 120);
  const said = condition(stalled, 'Stalled')?.message ?? '';
  const disks = said.match(/on its disk a log that is committed up to \d+.*? last entry \d+ of term \d+/g);
  assert.equal(disks?.length, 2, said);
  await approve(stage(), name, approvalAskedBy(stalled));
  await tickUntil(name, isWholeOf(4), 240);
  assert.equal(await readKey(await access(name), 'before'), 'kept');
});

/** Of each kind one, where a life takes a minute; `EXHAUSTIVE=1` gives all. */
const lives = process.env.EXHAUSTIVE
  ? etcdVersions.flatMap((version) => [2, 3, 5].map((replicas) => ({ version, replicas })))
  : [{ version: '3.6.16', replicas: 3 }];

for (const { version, replicas } of lives) {
  test(`etcd ${version}: all volumes of ${replicas} but one are gone: a person approves, and no write is lost`, async () => {
    const name = `lossy-${replicas}-${version.replaceAll('.', '-')}`;
    const { tickUntil } = stage();
    const { writer, leader, others } = await underWay(name, { version, replicas });
    await loseVolumes(others);
    const stalled = await tickUntil(name, isStalledFor('QuorumLost', { unchanged: true }), 60);
    const said = condition(stalled, 'Stalled')?.message ?? '';
    for (const lost of others) assert.ok(said.includes(`${lost} (its volume is gone)`), said);
    assert.ok(said.includes(`${leader} has the most data`), said);
    assert.equal(condition(stalled, 'Available')?.status, 'False');

    const { annotation } = approvalAskedBy(stalled);
    await approve(stage(), name, { annotation, value: `${stalled.status?.clusterID}/000000000000` });
    const refused = await tickUntil(name, (found) => /void/.test(condition(found, 'Stalled')?.message ?? ''));
    assert.equal(condition(refused, 'Stalled')?.reason, 'QuorumLost');

    await approve(stage(), name, approvalAskedBy(refused));
    const whole = await tickUntil(name, isWholeOf(replicas), 240);
    assert.deepEqual(whole.status?.gaveUp, [stalled.status?.clusterID]);
    const before = writer.acknowledged;
    await until('writes go on', async () => writer.acknowledged > before + 20);
    const { acknowledged, lost } = await writer.finish();
    assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
  });
}

test('a lagging survivor keeps what it has; a member left behind never serves, even by hand', async () => {
  const name = 'laggard';
  const { namespace, tickUntil, access, get, kubectl } = stage();
  const { leader, others } = await born(name, { tls: { mode: 'Disabled' } });
  const [survivor = '', other = ''] = others;
  const lost = [leader, other];
  const way = await access(name);
  const write = (prefix: string) => async () => {
    for (let number = 0; number < 10; number += 1) await writeKey(way, `${prefix}/${number}`, `value ${number}`);
    return true;
  };
  await until('writes that all have', write('early'));
  await node().unplugPod(namespace, `${survivor}-0`);
  await until('writes that the survivor never hears of', write('late'));
  const old = await Promise.all(lost.map((member) => get<Pod>(resources.pods, `${member}-0`)));

  await keepFromEnding(lost);
  await kubectl([
    '-n',
    namespace,
    'delete',
    'pod',
    ...lost.map((member) => `${member}-0`),
    '--wait=false',
    '--grace-period=1',
  ]);
  // While etcd runs in them, the survivor would hear of it all.
  await until('etcd has ended in the lost', async () => {
    const pods = await Promise.all(lost.map((member) => get<Pod>(resources.pods, `${member}-0`)));
    return pods.every((pod) => pod?.status?.containerStatuses?.every(({ state }) => state?.terminated));
  });
  await node().replugPod(namespace, `${survivor}-0`);
  await tickUntil(name, ({ status }) => {
    const { reason, message = '' } = status?.lastDecision ?? {};
    return reason === 'WaitingForQuorum' && lost.every((member) => message.includes(member));
  });
  const stalled = await tickUntil(name, isStalledFor('QuorumLost', { unchanged: true }), 60);
  const said = condition(stalled, 'Stalled')?.message ?? '';
  assert.ok(said.includes(`${survivor} has the most data`), said);
  for (const member of lost) assert.ok(said.includes(`${member} (its pod does not end`), said);

  await approve(stage(), name, approvalAskedBy(stalled));
  // They should long have ended: it is not only waited for that, it is said whose pod it is, where, and what helps.
  const fencing = await tickUntil(name, isStalledFor('PodStays'), 60);
  assert.match(condition(fencing, 'Stalled')?.message ?? '', /should have ended and has not.*To go on: bring node /);
  await letEnd(lost);
  const whole = await tickUntil(name, isWhole, 240);
  assert.deepEqual(whole.status?.gaveUp, [stalled.status?.clusterID]);
  for (const member of lost) {
    const claim = await get<PersistentVolumeClaim>(resources.volumeClaims, member);
    assert.equal(claim?.metadata.annotations?.['etcd.ratchet.dev/volume-state'], 'superseded', `${member} is kept`);
  }
  assert.equal(await readKey(way, 'early/9'), 'value 9');
  assert.equal(await readKey(way, 'late/9'), null, 'the survivor never had it');

  // Two of them would be a quorum: that is what the runbook warns of.
  const [revenant = ''] = lost;
  await startByHand(old[0] ?? assert.fail('no pod'));
  await until('the one that was started learns that it is of another cluster', async () =>
    /cluster ID mismatch/.test(await node().logs(namespace, `${revenant}-0`)),
  );
  const still = await tickUntil(name, isWhole, 60);
  assert.deepEqual(
    still.status?.members?.map((member) => member.name),
    whole.status?.members?.map((member) => member.name),
  );
  const pod = await get<Pod>(resources.pods, `${revenant}-0`);
  const ready = pod?.status?.conditions?.find(({ type }) => type === 'Ready');
  assert.equal(ready?.status, 'False', `${revenant} serves nobody`);
  assert.equal(await readKey(way, 'late/9'), null, 'nobody who answers has it');
});

/** As on a node that is dead: Kubernetes marks the pods for deletion, and nobody carries that out. */
async function keepFromEnding(members: readonly string[]): Promise<void> {
  await patchFinalizers(members, '["example.com/dead-node"]');
}

async function letEnd(members: readonly string[]): Promise<void> {
  await patchFinalizers(members, 'null');
}

async function patchFinalizers(members: readonly string[], list: string): Promise<void> {
  const { kubectl, namespace } = stage();
  for (const member of members)
    await kubectl(['-n', namespace, 'patch', 'pod', `${member}-0`, '-p', `{"metadata":{"finalizers":${list}}}`]);
}

/** As somebody might who finds its disk: the same pod, with the settings that it had, and nobody who would stop it. */
async function startByHand({ metadata, spec }: Pod): Promise<void> {
  const { kube, namespace } = stage();
  const member = metadata.name.replace(/-0$/, '');
  const { nodeName: _, ...rest } = spec;
  const containers = spec.containers.map((container) => ({
    ...container,
    env: [
      { name: 'ETCD_INITIAL_CLUSTER', value: 'sealed=http://sealed.invalid:2380' },
      { name: 'ETCD_INITIAL_CLUSTER_STATE', value: 'existing' },
    ],
  }));
  const labels = peerLabels(member.replace(/-\d+$/, ''), member);
  await kube.create<Pod>(resources.pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: metadata.name, namespace, labels },
    spec: { ...rest, containers },
  });
}
