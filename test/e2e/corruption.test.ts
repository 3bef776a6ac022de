import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { PersistentVolumeClaim } from '../../manifests/kube-types.ts';
import { annotations } from '../../manifests/render/names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { connectTo } from './support/client.ts';
import { isWhole } from './support/conditions.ts';
import { doneIn } from './support/done.ts';
import { readKey, writeKey } from './support/keys.ts';
import { node } from './support/node.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { startWriter, type Writer } from './support/writer.ts';

const stage = scene({ fleet: false, clearedBetween: true });
const healing = { podGracePeriod: '5s', memberGracePeriod: '25s' };
const [right, wrong] = ['what was acknowledged', 'what the disk now says'.slice(0, 21)] as const;

const acted = ({ status }: EtcdCluster) => doneIn(status?.history).map(({ reason }) => reason);

/** A cluster of three with a writer, and a key whose value one of its members is to hold wrongly. */
async function underWay(
  name: string,
  version: string,
): Promise<{ readonly writer: Writer; readonly cluster: EtcdCluster }> {
  const { kubectl, namespace, tickUntil, access } = stage();
  const stdin = clusterYaml(name, namespace, { version, healing });
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin });
  const cluster = await tickUntil(name, isWhole, 90);
  const writer = startWriter(await access(name), 'kept');
  await writeKey(await access(name), 'witness', right);
  await until('two hundred writes', async () => writer.acknowledged >= 200);
  return { writer, cluster };
}

/** Until it is in the file: etcd writes what it has committed every tenth of a second. */
async function alter(victim: string, part: string): Promise<void> {
  const { namespace } = stage();
  await until(
    'the value to change on the disk',
    async () => (await node().alterVolume(namespace, victim, part, right, wrong)) > 0,
  );
}

async function compact(name: string): Promise<void> {
  const client = connectTo(await stage().access(name), 5000);
  const { header } = await client.kv.range({ key: Buffer.from('witness') });
  await client.kv.compact({ revision: String(BigInt(header.revision) - 20n) });
  client.close();
}

/** @returns the cluster when it is whole again, without this member. */
async function replaced(name: string, victim: string, within: number): Promise<EtcdCluster> {
  const isHealed = (cluster: EtcdCluster) =>
    isWhole(cluster) && cluster.status?.members?.every((member) => member.name !== victim) === true;
  return stage().tickUntil(name, isHealed, within);
}

async function assertSound(name: string, writer: Writer): Promise<void> {
  const { access } = stage();
  const before = writer.acknowledged;
  await until('writes go on', async () => writer.acknowledged > before + 20);
  const { acknowledged, lost } = await writer.finish();
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
  assert.equal(await readKey(await access(name), 'witness'), right);
}

async function assertEvidence(victim: string): Promise<void> {
  const claim = await stage().get<PersistentVolumeClaim>(resources.volumeClaims, victim);
  assert.equal(claim?.metadata.annotations?.[annotations.volumeState], 'released');
  assert.equal(claim?.metadata.annotations?.[annotations.evidence], 'true');
}

for (const version of process.env.EXHAUSTIVE ? ['3.5.35', '3.6.16'] : ['3.6.16']) {
  test(`etcd ${version} raises CORRUPT: the member that differs is replaced, and writes return`, async (t) => {
    const name = `altered-${version.split('.')[1]}`;
    const { writer, cluster } = await underWay(name, version);
    const members = (cluster.status?.members ?? []).map((member) => member.name);
    const victim = members.find((member) => member !== cluster.status?.leader) ?? '';
    await alter(victim, 'snap/db');
    await compact(name);

    // etcd compares its members every minute, and those that have compacted by then: it may take a second one.
    const actions = (found: EtcdCluster) => doneIn(found.status?.history).map(({ action }) => action);
    await stage().tickUntil(name, (found) => actions(found).includes('remove-member'), 200);
    const healed = await replaced(name, victim, 120);
    const own = actions(healed).slice(actions(cluster).length);
    const wanted = ['prepare-members', 'remove-member', 'disarm-corrupt'];
    assert.deepEqual(
      own.filter((action) => wanted.includes(action)),
      wanted,
    );
    const disarmed = doneIn(healed.status?.history).find(({ action }) => action === 'disarm-corrupt');
    assert.ok(disarmed?.outcome === 'failed' || disarmed?.reason === 'Corrupt', disarmed?.message);
    await assertSound(name, writer);
    await assertEvidence(victim);
    t.diagnostic(acted(healed).join(' '));
  });
}

test('a member whose data differ at its start is replaced after its grace, its volume kept', async () => {
  const { namespace } = stage();
  const { writer, cluster } = await underWay('differs', '3.6.16');
  const victim = cluster.status?.leader ?? '';
  await alter(victim, 'snap/db');
  await node().killContainer(namespace, `${victim}-0`);
  const healed = await replaced('differs', victim, 240);
  assert.ok(
    doneIn(healed.status?.history).some(({ action }) => action === 'remove-member'),
    acted(healed).join(),
  );
  await assertSound('differs', writer);
  await assertEvidence(victim);
});

test('a member that can’t read its own log is replaced after its grace', async () => {
  const { namespace, get } = stage();
  const { writer, cluster } = await underWay('unreadable', '3.7.3');
  const victim = cluster.status?.leader ?? '';
  await alter(victim, '/wal/');
  await node().killContainer(namespace, `${victim}-0`);
  const healed = await replaced('unreadable', victim, 240);
  const why = healed.status?.history?.find(({ reason }) => reason === 'ReplacingMember')?.message ?? '';
  assert.match(why, /it last logged: .*crc mismatch/);
  await assertSound('unreadable', writer);
  const kept = await get<PersistentVolumeClaim>(resources.volumeClaims, victim);
  assert.match(kept?.metadata.annotations?.[annotations.replacedAt] ?? '', /^\d{4}-/, 'kept, though another one votes');
  const volumeRetention = { whenReplaced: { keepFor: '0s' } };
  const stdin = clusterYaml('unreadable', namespace, { version: '3.7.3', healing, volumeRetention });
  await stage().kubectl(['apply', '--server-side', '-f', '-'], { stdin });
  await stage().tickUntil('unreadable', (cluster) => acted(cluster).includes('DeletingReplacedVolume'), 60);
  await until('the volume is gone', async () => (await get(resources.volumeClaims, victim)) === undefined);
});
