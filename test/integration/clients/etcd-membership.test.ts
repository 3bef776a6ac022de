/** Membership calls against real clusters of every supported minor: a member's whole life, and every way to say no. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdError } from '../../../reconcile/interfaces/etcd.ts';
import type { EtcdAdmin } from '../../../reconcile/interfaces/etcd-admin.ts';
import { until } from '../../e2e/support/until.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { post, startMembers, type TestMember } from './etcd-members.ts';
import { failing, insist, open, refusal, within } from './etcd-membership-asking.ts';

const { etcd: binaries } = await provisionBinaries();
const unknown = 'abcdef0123456789';

describe('membership', { concurrency: 6 }, () => {
  for (const version of etcdVersions) {
    test(`etcd ${version}: a learner joins, catches up, votes, leads, and leaves`, async () => {
      await using cluster = await startMembers(binaries[version], 3);
      using etcd = open();
      const old = urls(cluster.members);
      const { clusterId } = await etcd.members(old, within(5_000));
      const options = () => within(10_000, { clusterId });
      const newcomer = cluster.newcomer();
      const { peerUrl, clientUrl } = newcomer.member;

      const id = await insist('UnhealthyCluster', () => etcd.addLearner(old, peerUrl, options()));
      const added = (await etcd.members(old, within(5_000, { barrier: true }))).members.find((one) => one.id === id);
      assert.deepEqual(added, { id, name: '', peerURLs: [peerUrl], clientURLs: [], isLearner: true });
      const again = () => etcd.addLearner(old, peerUrl, options());
      assert.equal(await refusal(insist('MemberIdExists', again)), 'PeerUrlExists');
      assert.equal(await refusal(etcd.addLearner(old, 'http://127.0.0.1:1', options())), 'TooManyLearners');
      assert.equal(await refusal(etcd.addLearner(old, 'nonsense', options())), 'BadUrls');
      assert.equal(await refusal(etcd.promote(old, id, options())), 'NotInSync');

      await newcomer.start();
      await until('the learner', () => etcd.status(clientUrl, within(1_000)));
      for (const ask of [
        () => etcd.addLearner([clientUrl], 'http://127.0.0.1:1', options()),
        () => etcd.remove([clientUrl], unknown, options()),
        () => etcd.moveLeader([clientUrl], id, options()),
        () => etcd.alarms([clientUrl], options()),
        () => etcd.compact([clientUrl], 1n, options()),
        () => etcd.hashKv(clientUrl, within(5_000, { revision: 1n })),
        () => etcd.defragment(clientUrl, within(5_000, { memberId: id })),
      ])
        assert.equal(await refusal(ask()), 'NotSupportedByLearner');
      assert.equal(await refusal(etcd.moveLeader(old, id, options())), 'BadTransferee');

      const all = [clientUrl, ...old];
      await insist('NotInSync', () => etcd.promote(all, id, options()));
      assert.equal(await refusal(etcd.promote(all, id, options())), 'NotALearner');
      const { members } = await etcd.members(all, within(5_000, { barrier: true }));
      assert.deepEqual([members.length, members.some(({ isLearner }) => isLearner)], [4, false]);

      const former = (await etcd.status(clientUrl, within(5_000))).leader;
      await etcd.moveLeader(all, id, options());
      await etcd.moveLeader(all, id, options());
      assert.equal((await etcd.status(clientUrl, within(5_000))).leader, id);
      const followers = await until('everybody to follow', async () => (await leaders(etcd, old)) === id && old);
      assert.equal(await refusal(etcd.moveLeader(followers, former, options())), 'NotLeader');
      assert.equal(await refusal(etcd.remove(all, id, options())), 'IsLeader');
      assert.equal(await refusal(etcd.remove(followers, id, options())), 'IsLeader');
      assert.equal(await refusal(etcd.moveLeader(all, unknown, options())), 'BadTransferee');
      await etcd.moveLeader(all, former, options());

      await insist('UnhealthyCluster', () => etcd.remove(all, id, options()));
      const left = (await etcd.members(old, within(5_000, { barrier: true }))).members;
      assert.deepEqual([left.length, left.some((one) => one.id === id)], [3, false]);
      assert.equal(await refusal(etcd.remove(old, id, options())), 'MemberNotFound');
      assert.equal(await refusal(etcd.remove(old, unknown, options())), 'MemberNotFound');
      assert.equal(await refusal(etcd.promote(old, id, options())), 'MemberNotFound');
    });

    test(`etcd ${version}: a removal that costs the quorum is refused, a dead member may go`, async () => {
      await using cluster = await startMembers(binaries[version], 3);
      using etcd = open();
      const all = urls(cluster.members);
      const { clusterId, members } = await etcd.members(all, within(5_000));
      const options = () => within(10_000, { clusterId });
      const idOf = (member: TestMember) => members.find(({ name }) => name === member.name)?.id ?? '';
      const { leader } = await etcd.status(all[0] ?? '', within(5_000));
      const [one, two] = cluster.members.filter((member) => idOf(member) !== leader);
      const leading = cluster.members.find((member) => idOf(member) === leader);
      assert.ok(one && two && leading);

      // Voters that never started, as somebody may add them by hand; through a follower, as when the leader is out of
      // our reach.
      const ghosts = [await addVoter(one, 'http://127.9.9.9:1'), await addVoter(one, 'http://127.9.9.9:2')];
      assert.equal(await refusal(etcd.remove(all, idOf(two), options())), 'NotEnoughStarted');
      for (const ghost of ghosts) await etcd.remove([one.clientUrl], ghost, options());
      assert.equal((await etcd.members(all, within(5_000, { barrier: true }))).members.length, 3);

      await one.kill();
      await until('the leader to miss it', async () => {
        const metrics = await (await fetch(`${leading.clientUrl}/metrics`)).text();
        return new RegExp(`^etcd_network_active_peers\\{.*Remote="${idOf(one)}"\\} 0$`, 'm').test(metrics);
      });
      assert.equal(await refusal(etcd.addLearner(all, 'http://127.9.9.9:3', options())), 'UnhealthyCluster');
      assert.equal(await refusal(etcd.remove(all, idOf(two), options())), 'UnhealthyCluster');
      await etcd.remove(all, idOf(one), options());
      const left = (await etcd.members(all, within(5_000, { barrier: true }))).members.map(({ id }) => id);
      assert.deepEqual(left.toSorted(), [leader, idOf(two)].toSorted());
    });

    test(`etcd ${version}: a member of another cluster is not asked, whatever its address was before`, async () => {
      await using ours = await startMembers(binaries[version], 1);
      await using theirs = await startMembers(binaries[version], 1);
      using etcd = open();
      const { clusterId } = await etcd.members(urls(ours.members), within(5_000));
      const options = () => within(10_000, { clusterId });
      const [right = '', wrong = ''] = [...urls(ours.members), ...urls(theirs.members)];
      const peerUrl = 'http://127.9.9.9:4';
      const error = await failing(etcd.addLearner([wrong], peerUrl, options()));
      assert.deepEqual([error.outcome, error.reason], ['refused', 'ClusterIdMismatch']);
      assert.ok(error.message.includes(wrong) && error.message.includes(clusterId), error.message);
      assert.equal(await refusal(etcd.alarms([wrong], options())), 'ClusterIdMismatch');
      assert.deepEqual(await etcd.alarms([wrong, right], options()), []);
      const id = await insist('UnhealthyCluster', () => etcd.addLearner([wrong, right], peerUrl, options()));
      const { members } = await etcd.members([right], within(5_000));
      assert.deepEqual(members.find((one) => one.id === id)?.peerURLs, [peerUrl]);
      assert.equal((await etcd.members([wrong], within(5_000))).members.length, 1);
      // The last voter stays, though it leads.
      assert.equal(await refusal(etcd.remove([right], await leaders(etcd, [right]), options())), 'IsLeader');
      await etcd.remove([right], id, options());
    });
  }
});

// An ID is made of the peer URL, the token and the second in which it is added. Alone: two calls must share a second.
for (const version of etcdVersions)
  test(`etcd ${version}: a member added again in the same second has the same ID`, async () => {
    await using cluster = await startMembers(binaries[version], 1);
    using etcd = open();
    const all = urls(cluster.members);
    const { clusterId } = await etcd.members(all, within(5_000));
    const options = () => within(10_000, { clusterId });
    const add = () => etcd.addLearner(all, 'http://127.9.9.9:5', options());
    await until('two at once', async () => {
      const id = await insist('UnhealthyCluster', add);
      const whileThere = await refusal(add());
      await etcd.remove(all, id, options());
      return whileThere === 'MemberIdExists';
    });
    await until('one that was removed', async () => {
      await etcd.remove(all, await add(), options());
      const another = await add().catch((error: EtcdError) => error.reason ?? '');
      if (/^[0-9a-f]+$/.test(another)) await etcd.remove(all, another, options());
      return another === 'MemberNotFound';
    });
  });

test('what is no member ID is not asked about', async () => {
  using etcd = open();
  const options = within(1_000, { clusterId: '1' });
  const nowhere = ['http://127.0.0.1:1'];
  for (const id of ['', '0x1f', '12345678901234567', 'F00', ' 1', 'g']) {
    for (const ask of [
      () => etcd.promote(nowhere, id, options),
      () => etcd.remove(nowhere, id, options),
      () => etcd.moveLeader(nowhere, id, options),
      () => etcd.disarm(nowhere, { memberId: id, alarm: 'NOSPACE' }, options),
    ]) {
      const error = await failing(ask());
      assert.deepEqual([error.outcome, /is not a member ID/.test(error.message)], ['down', true]);
    }
  }
  const nobody = await failing(etcd.addLearner([], 'http://127.0.0.1:1', options));
  assert.deepEqual([nobody.outcome, nobody.reason], ['down', undefined]);
  const down = await failing(etcd.addLearner(nowhere, 'http://127.0.0.1:1', options));
  assert.deepEqual([down.outcome, /not sent: .*ECONNREFUSED/.test(down.message)], ['down', true]);
});

function urls(members: readonly TestMember[]): string[] {
  return members.map(({ clientUrl }) => clientUrl);
}

/** The leader that all of them follow; empty while they do not agree. */
async function leaders(etcd: EtcdAdmin, endpoints: readonly string[]): Promise<string> {
  const said = new Set(await Promise.all(endpoints.map(async (url) => (await etcd.status(url, within(2_000))).leader)));
  return said.size === 1 ? ([...said][0] ?? '') : '';
}

async function addVoter({ clientUrl }: TestMember, peerUrl: string): Promise<string> {
  const added = await until('the voter', async () => {
    const answer = await post(clientUrl, '/v3/cluster/member/add', { peerURLs: [peerUrl] });
    return 'member' in answer && (answer.member as { readonly ID: string });
  });
  return BigInt(added.ID).toString(16);
}
