import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { connectTo } from './support/client.ts';
import { condition, isReady, isStalledFor } from './support/conditions.ts';
import { fill } from './support/fill.ts';
import { watchLeader } from './support/leader-last.ts';
import { scene } from './support/scene.ts';
import { until } from './support/until.ts';
import { startWriter } from './support/writer.ts';

const stage = scene({ clearedBetween: true });
const MiB = 2 ** 20;

const steps = ({ status }: EtcdCluster) => (status?.history ?? []).filter(({ outcome }) => outcome === 'acted');
const targetsOf = (cluster: EtcdCluster) =>
  steps(cluster).flatMap(({ action, target }) => (action === 'defragment-member' ? [target] : []));
const sizesOf = ({ status }: EtcdCluster) => (status?.members ?? []).map(({ dbBytes }) => dbBytes ?? 0);

test('out of space: history goes, members are defragmented, the leader last, writes return', async (t) => {
  const { tickUntil, access } = stage();
  await stage().pushCluster('full', { etcd: { quotaBackendBytes: '16Mi' } });
  const before = await tickUntil('full', isReady);
  const way = await access('full');
  const writer = startWriter(way, 'kept');
  await until('fifty writes', async () => writer.acknowledged >= 50);
  const client = connectTo(way, 5000);
  const leaderLast = watchLeader(targetsOf);
  await fill(client, () => 'again and again', 20_000);
  const so = writer.acknowledged;

  const told = await tickUntil('full', (found) => {
    leaderLast.look(found);
    return condition(found, 'Ready')?.reason === 'NoSpace';
  });
  assert.equal(condition(told, 'Ready')?.status, 'False');
  assert.equal(condition(told, 'Available')?.reason, 'NoSpace');
  const after = await tickUntil('full', (found) => {
    leaderLast.look(found);
    return isReady(found);
  });
  const own = steps(after).slice(steps(before).length);
  assert.deepEqual(
    own.map(({ action }) => action),
    ['compact', 'defragment-member', 'defragment-member', 'defragment-member', 'disarm-alarm'],
  );
  leaderLast.assert(3);
  assert.ok(
    sizesOf(after).every((size) => size > 0 && size < 8 * MiB),
    sizesOf(after).join(),
  );

  await until('writes again', async () => writer.acknowledged > so + 50);
  const { acknowledged, lost } = await writer.finish();
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
  assert.equal((await client.get('again and again').string())?.length, 20_000);
  client.close();
  t.diagnostic(`${acknowledged} writes, ${sizesOf(after).map((size) => (size / MiB).toFixed(1))} MiB left`);
});

test('a file that has grown far beyond what is in it is given back, before etcd is out of space', async (t) => {
  const { tickUntil, access } = stage();
  // Members compact by themselves, in any order; while only the leader has done it, only the leader has to gain.
  await stage().pushCluster('grown', { defragmentation: { mode: 'Disabled' } });
  await tickUntil('grown', isReady);
  const way = await access('grown');
  const writer = startWriter(way, 'kept');
  const client = connectTo(way, 5000);
  for (let number = 0; number < 60; number += 1) await client.put('again and again').value('x'.repeat(500_000));
  // As auto-compaction does it.
  const { header } = await client.kv.range({ key: Buffer.from('again and again') });
  await client.kv.compact({ revision: header.revision, physical: true });
  await tickUntil('grown', ({ status }) =>
    (status?.members ?? []).every(({ dbBytes = 0, dbInUseBytes = dbBytes }) => dbBytes - dbInUseBytes > 16 * MiB),
  );
  await stage().pushCluster('grown', { defragmentation: { minReclaim: '8Mi', maxUsedPercent: 50 } });
  // So much at once can cost a busy machine an election: what is asked of us begins here.
  writer.gap();
  const leaderLast = watchLeader(targetsOf);
  const after = await tickUntil(
    'grown',
    (found) => {
      leaderLast.look(found);
      return isReady(found) && targetsOf(found).length >= 3;
    },
    120,
  );
  const longestGap = writer.gap();
  const { acknowledged, lost } = await writer.finish();
  client.close();
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
  assert.ok(longestGap < 1500, `${longestGap} ms`);
  assert.equal(targetsOf(after).length, 3, targetsOf(after).join());
  leaderLast.assert(3);
  const rest = await tickUntil('grown', (found) => sizesOf(found).every((size) => size < 8 * MiB));
  assert.equal(targetsOf(rest).length, 3, 'and nobody again');
  t.diagnostic(`longest gap ${longestGap.toFixed(0)} ms over ${acknowledged} writes`);
});

test('data that fill the quota: a person is told the cure, and a larger quota cures it', async () => {
  const { tickUntil, access, cluster, tick } = stage();
  await stage().pushCluster('filled', { etcd: { quotaBackendBytes: '16Mi' } });
  await tickUntil('filled', isReady);
  const client = connectTo(await access('filled'), 5000);
  const taken = await fill(client, (number) => `key ${number}`, 10_000);
  assert.ok(taken.length > 1000);

  const stuck = await tickUntil('filled', isStalledFor('NoSpace'), 120);
  assert.match(condition(stuck, 'Stalled')?.message ?? '', /fill its quota of 16Mi.*To go on: raise spec\.etcd\.quota/);
  assert.ok(targetsOf(stuck).length <= 3);
  for (let again = 0; again < 3; again += 1) await tick();
  assert.deepEqual(steps(await cluster('filled')), steps(stuck));
  await assert.rejects(client.put('one more').value('x').exec());

  await stage().pushCluster('filled', { etcd: { quotaBackendBytes: '64Mi' } });
  await tickUntil('filled', (found) => isReady(found) && found.spec.etcd?.quotaBackendBytes === '64Mi', 180);
  await until('a write', async () => client.put('one more').value('x'), { within: 30 });
  const found = await client.getAll().prefix('key ').keys();
  assert.deepEqual(
    taken.filter((key) => !found.includes(key)),
    [],
    'everything that was acknowledged is there',
  );
  client.close();
});
