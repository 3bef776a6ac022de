import assert from 'node:assert/strict';
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
