import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { connectTo } from './support/client.ts';
import { isReady } from './support/conditions.ts';
import { doneIn } from './support/done.ts';
import { watchLeader } from './support/leader-last.ts';
import { scene } from './support/scene.ts';
import { startWriter } from './support/writer.ts';

const stage = scene({ clearedBetween: true });
const MiB = 2 ** 20;

const steps = ({ status }: EtcdCluster) => doneIn(status?.history);
const targetsOf = (cluster: EtcdCluster) =>
  steps(cluster).flatMap(({ action, target }) => (action === 'defragment-member' ? [target] : []));
const sizesOf = ({ status }: EtcdCluster) => (status?.members ?? []).map(({ dbBytes }) => dbBytes ?? 0);

test('a file that has grown far beyond what is in it is given back, before etcd is out of space', async (t) => {
  const { tickUntil, stepUntil, access } = stage();
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
  // Sizes are seen by full looks, which a cluster that is named has.
  await stepUntil('grown', ({ status }) =>
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
  const rest = await stepUntil('grown', (found) => sizesOf(found).every((size) => size < 8 * MiB));
  assert.equal(targetsOf(rest).length, 3, 'and nobody again');
  t.diagnostic(`longest gap ${longestGap.toFixed(0)} ms over ${acknowledged} writes`);
});
