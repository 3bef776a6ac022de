/** When nobody knows whether a membership call was carried out: it is said so, never repeated, and can be found out. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until } from '../../e2e/support/until.ts';
import { startStopwatch } from '../../support/awake.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { startMembers } from './etcd-members.ts';
import { failing, insist, open, put, refusal, within } from './etcd-membership-asking.ts';
import { inRequest, startProxy } from './etcd-membership-proxy.ts';

const { etcd: binaries } = await provisionBinaries();

describe('doubt', { concurrency: 6 }, () => {
  for (const version of etcdVersions) {
    test(`etcd ${version}: a call without an answer is ambiguous, and found by its peer URL`, async () => {
      await using cluster = await startMembers(binaries[version], 1);
      const [endpoint = ''] = cluster.members.map(({ clientUrl }) => clientUrl);
      await using proxy = await startProxy(endpoint);
      using etcd = open();
      const { clusterId } = await etcd.members([endpoint], within(5_000));
      const options = () => within(10_000, { clusterId, timeoutMs: 1_000 });
      const listed = () => etcd.members([endpoint], within(5_000, { barrier: true }));
      // Past the first seconds, in which etcd refuses.
      const peerUrl = 'http://127.9.9.9:1';
      const first = await insist('UnhealthyCluster', () => etcd.addLearner([endpoint], peerUrl, options()));
      await etcd.remove([endpoint], first, options());

      for (const [fate, url] of [
        ['silence', 'http://127.9.9.9:2'],
        ['loss', 'http://127.9.9.9:3'],
      ] as const) {
        proxy.intercept({ needle: Buffer.from(url), fate });
        const added = await failing(etcd.addLearner([proxy.url], url, options()));
        assert.deepEqual([added.outcome, added.reason, proxy.seen()], ['ambiguous', undefined, 1], added.message);
        assert.ok(added.message.startsWith(`add learner ${url} at ${proxy.url}: `), added.message);
        // The connection is lost with the first thing that etcd says, which may come before it has even proposed
        // anything.
        const found = await until(`learner ${url}`, async () =>
          (await listed()).members.find(({ peerURLs }) => peerURLs.includes(url)),
        );
        assert.equal(found.isLearner, true);

        proxy.intercept({ needle: inRequest(found.id), fate });
        const removed = await failing(etcd.remove([proxy.url], found.id, options()));
        assert.deepEqual([removed.outcome, removed.reason, proxy.seen()], ['ambiguous', undefined, 1], removed.message);
        await until(`${url} is removed`, async () => (await listed()).members.length === 1);
        assert.equal(await refusal(etcd.remove([endpoint], found.id, options())), 'MemberNotFound');
      }
    });

    test(`etcd ${version}: an abandoned removal is carried out when the frozen endpoint goes on`, async () => {
      await using cluster = await startMembers(binaries[version], 1);
      using etcd = open();
      const [member] = cluster.members;
      assert.ok(member);
      const { clientUrl } = member;
      const { clusterId } = await etcd.members([clientUrl], within(5_000));
      const options = () => within(20_000, { clusterId });
      const id = await insist('UnhealthyCluster', () => etcd.addLearner([clientUrl], 'http://127.9.9.9:4', options()));
      await using proxy = await startProxy(clientUrl);
      proxy.intercept({ needle: inRequest(id), fate: 'silence', before: () => member.freeze() });
      const removed = await failing(etcd.remove([proxy.url], id, { ...options(), timeoutMs: 2_000 }));
      assert.deepEqual([removed.outcome, proxy.seen()], ['ambiguous', 1], removed.message);
      await member.freeze();
      member.thaw();
      await until('the removal', async () => {
        const list = await etcd.members([clientUrl], within(2_000, { barrier: true }));
        return list.members.length === 1;
      });
    });
  }

  test('without a quorum nothing is sent, and that is certain', async () => {
    await using cluster = await startMembers(binaries['3.6.16'], 3);
    using etcd = open();
    const all = cluster.members.map(({ clientUrl }) => clientUrl);
    const { clusterId } = await etcd.members(all, within(5_000));
    const id = await insist('UnhealthyCluster', () =>
      etcd.addLearner(all, 'http://127.9.9.9:5', within(5_000, { clusterId })),
    );
    const { leader } = await etcd.status(all[0] ?? '', within(5_000));
    const leading = (await etcd.members(all, within(5_000))).members.find((one) => one.id === leader);
    const followers = cluster.members.filter(({ name }) => name !== leading?.name);
    await Promise.all(followers.map((member) => member.freeze()));
    const options = () => within(5_000, { clusterId });
    const asked = [
      () => etcd.remove(all, id, options()),
      () => etcd.moveLeader(all, id, options()),
      () => etcd.compact(all, 1n, options()),
    ].map((ask) => failing(ask()));
    for (const error of await Promise.all(asked)) {
      assert.equal(error.outcome, 'down', error.message);
      assert.match(error.message, /not sent/);
    }
    for (const member of followers) member.thaw();
    const list = () => etcd.members(all, within(2_000, { barrier: true }));
    assert.equal((await until('quorum', list)).members.length, 4);
  });

  test('leadership that cannot be handed over is ambiguous in time, and the old leader goes on', async () => {
    await using cluster = await startMembers(binaries['3.6.16'], 3);
    using etcd = open();
    const all = cluster.members.map(({ clientUrl }) => clientUrl);
    const { clusterId, members } = await etcd.members(all, within(5_000));
    const { leader } = await etcd.status(all[0] ?? '', within(5_000));
    const target = members.find(({ id }) => id !== leader);
    const frozen = cluster.members.find(({ name }) => name === target?.name);
    const leading = cluster.members.find(({ name }) => name === members.find(({ id }) => id === leader)?.name);
    assert.ok(target && frozen && leading);
    await frozen.freeze();
    using watched = startStopwatch();
    const error = await failing(etcd.moveLeader(all, target.id, within(10_000, { clusterId, timeoutMs: 1_500 })));
    assert.equal(error.outcome, 'ambiguous', error.message);
    assert.ok(watched.milliseconds() < 5_000);
    assert.equal((await etcd.status(leading.clientUrl, within(5_000))).leader, leader);
    assert.ok(await until('a write', () => put(leading.clientUrl, 'key', 'value')));
    frozen.thaw();
  });

  test('close ends a change that is under way, and what it did is ambiguous', async () => {
    await using cluster = await startMembers(binaries['3.7.3'], 1);
    const [endpoint = ''] = cluster.members.map(({ clientUrl }) => clientUrl);
    await using proxy = await startProxy(endpoint);
    using etcd = open();
    const { clusterId, members } = await etcd.members([endpoint], within(5_000));
    const id = members[0]?.id ?? '';
    const url = 'http://127.9.9.9:6';
    proxy.intercept({ needle: Buffer.from(url), fate: 'silence' });
    const options = within(20_000, { clusterId, timeoutMs: 20_000 });
    const error = failing(etcd.addLearner([proxy.url], url, options));
    await until('the request', async () => proxy.seen() > 0);
    using watched = startStopwatch();
    etcd.close();
    assert.equal((await error).outcome, 'ambiguous');
    assert.match((await error).message, /the etcd client was closed/);
    assert.ok(watched.milliseconds() < 500);
    await until('every connection to close', async () => proxy.open() === 0, { within: 5, every: 10 });
    const late = await failing(etcd.defragment(endpoint, within(1_000, { memberId: id })));
    assert.deepEqual([late.outcome, /was closed/.test(late.message)], ['down', true]);
  });
});
