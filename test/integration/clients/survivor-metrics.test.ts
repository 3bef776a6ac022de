import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../e2e/support/until.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { post, startMembers } from './etcd-members.ts';
import { failing, open, within } from './etcd-membership-asking.ts';

const { etcd: binaries } = await provisionBinaries();

const key = (name: string) => ({ key: Buffer.from(name).toString('base64'), value: 'dmFsdWU=' });

for (const version of etcdVersions)
  test(`etcd ${version}, started without a quorum: no client is answered, and metrics tell what it has`, async () => {
    await using cluster = await startMembers(binaries[version], 3);
    using etcd = open();
    const [survivor = assert.fail(), ...others] = cluster.members;
    const urls = cluster.members.map(({ clientUrl }) => clientUrl);
    for (let n = 0; n < 20; n += 1) await post(survivor.clientUrl, '/v3/kv/put', key(`key/${n}`));
    const { members } = await etcd.members(urls, within(5_000));
    const before = await until('all of it on each', async () => {
      const statuses = await Promise.all(urls.map((url) => etcd.status(url, within(2_000))));
      const [first = assert.fail()] = statuses;
      const isSame = statuses.every(
        (one) => one.raftAppliedIndex === first.raftIndex && one.raftIndex === first.raftIndex,
      );
      return isSame && first;
    });
    const ids = members.map(({ id }) => id).filter((id) => id !== before.memberId);
    const told = {
      memberId: before.memberId,
      isLearner: false,
      revision: before.revision,
      others: ids.toSorted(),
    };
    const asked = async () => {
      const metrics = await etcd.metrics(survivor.clientUrl, within(2_000));
      return metrics.others.length === 2 && { ...metrics, others: metrics.others.toSorted() };
    };
    const live = await until('it names the others', asked, { within: 60 });
    assert.deepEqual(live, { ...told, hasLeader: true, applied: before.raftIndex });

    await Promise.all(cluster.members.map((member) => member.kill()));
    survivor.restart();
    const anew = await until('it names the others again', async () => asked().catch(() => undefined), { within: 60 });
    // That an entry is committed reaches the disk with the next one: the database may have what the log does not say.
    assert.deepEqual(anew, { ...told, hasLeader: false, applied: anew.applied });
    assert.ok(anew.applied <= live.applied && live.applied - anew.applied <= 1n, `${anew.applied} of ${live.applied}`);
    assert.equal((await failing(etcd.status(survivor.clientUrl, within(2_000)))).outcome, 'ambiguous');
    assert.equal((await failing(etcd.lastMembers([survivor.clientUrl], within(2_000)))).outcome, 'ambiguous');
    assert.equal((await failing(etcd.version(survivor.clientUrl, within(2_000)))).outcome, 'ambiguous');

    for (const other of others) other.restart();
    await until('a quorum', async () => etcd.members(urls, within(2_000)).catch(() => undefined), { within: 30 });
    const again = await until('a leader', async () => {
      const metrics = await etcd.metrics(survivor.clientUrl, within(2_000));
      return metrics.hasLeader && metrics;
    });
    assert.ok(again.applied > anew.applied, 'each leader adds an entry');
  });

/**
 * Leaves it as etcd does that is killed within 3 ms of making its log: what the log begins with, and no entry. A record
 * is its length in 7 bytes, a byte that says how it is padded, and so many bytes up to a multiple of 8.
 */
async function cutShort(dataDirectory: string): Promise<void> {
  const member = join(dataDirectory, 'member');
  await rm(join(member, 'snap'), { recursive: true });
  const [log = assert.fail('no log')] = (await readdir(join(member, 'wal'))).filter((name) => name.endsWith('.wal'));
  const bytes = await readFile(join(member, 'wal', log));
  let end = 0;
  // A checksum, whose log it is, and the snapshot that it goes on from, which is none.
  for (let record = 0; record < 3; record++) end += 8 + Math.ceil(bytes.readUIntLE(end, 6) / 8) * 8;
  await writeFile(join(member, 'wal', log), bytes.fill(0, end));
}

for (const version of etcdVersions)
  test(`etcd ${version}, killed before the first entry of its log, tells by its metrics that there is none`, async () => {
    await using cluster = await startMembers(binaries[version], 1);
    using etcd = open();
    const [alone = assert.fail()] = cluster.members;
    const { memberId } = await etcd.status(alone.clientUrl, within(5_000));
    await alone.kill();
    await cutShort(alone.dataDirectory);
    alone.restart();
    const told = await until('its metrics', () => etcd.metrics(alone.clientUrl, within(2_000)));
    assert.deepEqual([told.memberId, told.hasLeader, told.applied], [memberId, false, 0n]);
    assert.equal((await failing(etcd.members([alone.clientUrl], within(5_000)))).outcome, 'ambiguous');
    const later = await etcd.metrics(alone.clientUrl, within(2_000));
    assert.deepEqual([later.hasLeader, later.applied], [false, 0n], 'after five times the time of an election');
  });

test('killed so, one of three follows the others', async () => {
  const [version] = etcdVersions;
  await using cluster = await startMembers(binaries[version ?? '3.6.16'], 3);
  using etcd = open();
  const [cut = assert.fail(), ...others] = cluster.members;
  await Promise.all(cluster.members.map((member) => member.kill()));
  await cutShort(cut.dataDirectory);
  for (const member of [cut, ...others]) member.restart();
  const { leader } = await until('it follows', async () => {
    const status = await etcd.status(cut.clientUrl, within(2_000)).catch(() => undefined);
    return status !== undefined && status.leader !== '0' && status;
  });
  const { memberId } = await etcd.status(cut.clientUrl, within(2_000));
  assert.notEqual(leader, memberId);
});
