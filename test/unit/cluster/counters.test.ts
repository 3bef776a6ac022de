import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterCounters } from '../../../manifests/api/cluster-counters.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { HaltAbove } from '../../../manifests/api/rollout.ts';
import { type Counted, countersAfter, isSampleDue, wordsFor } from '../../../reconcile/cluster/know/counters.ts';
import type { Slot } from '../../../reconcile/cluster/know/observation.ts';
import { askCounters } from '../../../reconcile/cluster/observe/ask-counters.ts';
import { EtcdError, type MemberCounters } from '../../../reconcile/interfaces/etcd.ts';
import type { EtcdAdmin } from '../../../reconcile/interfaces/etcd-admin.ts';
import { all, healthy, silent, withContainer, withEndpoint, withInputs } from './observations.ts';

type Change = (slot: Slot) => Slot;

const above: HaltAbove = { leaderChanges: 2, failedProposals: 10, walFsyncP99: '512ms', backendCommitP99: '256ms' };
const none: MemberCounters = {
  ...{ leaderChanges: 3, failedProposals: 0, fsyncs: 100, slowFsyncs: 0, commits: 100, slowCommits: 0 },
};
const start = Date.parse('2026-05-01T10:00:00Z');
const after = (minutes: number) => new Date(start + minutes * 60_000);
const of = { processes: 'p', members: 3, given: 'g' };

function clusterWith(counters: ClusterCounters | undefined): EtcdCluster {
  const { cluster } = healthy(3);
  return { ...cluster, status: { observedGeneration: 1, ...(counters && { counters }) } };
}

interface Look {
  readonly minute: number;
  readonly sum?: Partial<MemberCounters>;
  readonly read?: Partial<NonNullable<Counted['read']>>;
  readonly above?: HaltAbove;
  /** A member did not answer. */
  readonly isUnread?: true;
}

/** One look after the other. */
function looks(...all: readonly Look[]): ClusterCounters | undefined {
  return all.reduce<ClusterCounters | undefined>((before, { minute, sum, read, above: other = above, isUnread }) => {
    const counted = isUnread ? { above: other } : { above: other, read: { ...of, ...read, sum: { ...none, ...sum } } };
    return countersAfter(clusterWith(before), counted, after(minute));
  }, undefined);
}

describe('what members count is beyond a limit', () => {
  for (const [what, sum, limit] of [
    ['where each of three members saw three changes of the leader', { leaderChanges: 12 }, 'leaderChanges'],
    ['where eleven proposals failed', { failedProposals: 11 }, 'failedProposals'],
    ['where one in ninety fsyncs was slow', { fsyncs: 550, slowFsyncs: 5 }, 'walFsyncP99'],
    ['where one in ninety commits was slow', { commits: 550, slowCommits: 5 }, 'backendCommitP99'],
    ['not at two changes', { leaderChanges: 11 }, undefined],
    ['not at ten failed proposals', { failedProposals: 10 }, undefined],
    ['not at one slow fsync in a hundred', { fsyncs: 600, slowFsyncs: 5 }, undefined],
    ['not for four slow ones, however few there were', { fsyncs: 110, slowFsyncs: 4, slowCommits: 4 }, undefined],
  ] as const)
    test(what, () => {
      const told = looks({ minute: 0 }, { minute: 3, sum });
      assert.deepEqual(told?.exceeded, limit && { at: '2026-05-01T10:03:00Z', limit });
    });

  test('not for what came about before the first look', () => {
    assert.equal(looks({ minute: 0, sum: { leaderChanges: 900, slowFsyncs: 90 } })?.exceeded, undefined);
  });

  test('not for what is named as no limit', () => {
    const { leaderChanges: _, ...others } = above;
    assert.equal(
      looks({ minute: 0, above: others }, { minute: 3, sum: { leaderChanges: 90 }, above: others })?.exceeded,
      undefined,
    );
  });

  test('for what comes about in ten minutes, and for more of it in more', () => {
    const at = (minute: number, leaderChanges: number) =>
      looks({ minute: 0 }, { minute: 7, sum: { leaderChanges: 3 } }, { minute, sum: { leaderChanges } });
    assert.equal(at(15, 3 + 9 * 1.5 - 0.5)?.exceeded, undefined);
    assert.equal(at(15, 3 + 9 * 1.5)?.exceeded?.limit, 'leaderChanges');
    const slowly = [0, 4, 8, 12, 16, 20].map((minute, n) => ({ minute, sum: { leaderChanges: 3 + 2 * n } }));
    assert.equal(looks(...slowly)?.exceeded, undefined);
    const quickly = [0, 4, 8, 12, 16, 20].map((minute, n) => ({ minute, sum: { leaderChanges: 3 + 4 * n } }));
    assert.equal(looks(...quickly)?.exceeded?.limit, 'leaderChanges');
  });

  test('and stays known when it is over', () => {
    const calm = [9, 15, 21].map((minute) => ({ minute, sum: { leaderChanges: 30 } }));
    const told = looks({ minute: 0 }, { minute: 3, sum: { leaderChanges: 30 } }, ...calm);
    assert.equal(told?.exceeded?.at, '2026-05-01T10:09:00Z');
  });
});

describe('the counting begins anew', () => {
  const before = [{ minute: 0 }, { minute: 3, sum: { leaderChanges: 30 } }];
  for (const [what, look] of [
    ['when a member has started', { read: { processes: 'q' } }],
    ['with another number of members', { read: { members: 5 } }],
    ['where a count went back', { sum: { leaderChanges: 30, fsyncs: 99 } }],
    ['after a gap of ten minutes', { minute: 13 }],
  ] as const)
    test(`${what}, and what was beyond a limit stays known`, () => {
      const told = looks(...before, { minute: 6, sum: { leaderChanges: 30 }, ...look });
      assert.deepEqual([told?.samples.length, told?.exceeded?.at], [1, '2026-05-01T10:03:00Z']);
    });

  test('with other limits, or something else that members were given, and nothing is beyond one', () => {
    for (const look of [{ above: { leaderChanges: 3 } }, { read: { processes: 'q', given: 'h' } }]) {
      const told = looks(...before, { minute: 6, sum: { leaderChanges: 30 }, ...look });
      assert.deepEqual([told?.samples.length, told?.exceeded], [1, undefined]);
    }
  });
});

test('what was counted stays where a member is silent, and goes where the fleet asks for none', () => {
  const before = looks({ minute: 0 }, { minute: 3 });
  assert.deepEqual(looks({ minute: 0 }, { minute: 3 }, { minute: 6, isUnread: true }), before);
  assert.equal(countersAfter(clusterWith(before), undefined, after(6)), undefined);
  assert.deepEqual(countersAfter(clusterWith(before), {}, after(6)), before, 'nor in a look that sees no fleet');
  assert.equal(countersAfter(clusterWith(before), { above: { leaderChanges: 3 } }, after(6)), undefined);
});

test('the status keeps ten minutes of it, in at most twelve samples', () => {
  const told = looks(...Array.from({ length: 100 }, (_, minute) => ({ minute })));
  const [first, last] = [told?.samples.at(0), told?.samples.at(-1)];
  assert.deepEqual([first?.at, last?.at], ['2026-05-01T11:29:00Z', '2026-05-01T11:39:00Z']);
  const quick = looks(...Array.from({ length: 100 }, (_, n) => ({ minute: n / 10 })));
  assert.equal(quick?.samples.length, 12);
  assert.equal(quick?.samples.at(-1)?.at, '2026-05-01T10:09:54Z');
});

test('what is beyond a limit is told with the cluster and that limit', () => {
  const words = [...Object.keys(above), 'ofAnotherRelease'].map((limit) => wordsFor(limit, above, 'shop/a'));
  const told = [
    / changed more than 2 times/,
    /more than 10 /,
    /WAL .* than 512ms$/,
    / commits .* than 256ms$/,
    /beyond of/,
  ];
  for (const [index, expected] of told.entries()) {
    assert.match(words[index] ?? '', expected);
    assert.match(words[index] ?? '', /shop\/a/);
  }
});

describe('members are asked for what they count', () => {
  const running: Change = (slot) =>
    withContainer({ state: 'running', startedAt: new Date(start + slot.ordinal * 1000) })(slot);
  const at = after(5);

  async function asked(observation = healthy(3, { every: running }), fails = false) {
    let calls = 0;
    const counters = async () => {
      calls += 1;
      if (fails && calls === 3) throw new EtcdError('no answer', 'down');
      return none;
    };
    const etcd = { counters, close: () => undefined } as Partial<EtcdAdmin> as EtcdAdmin;
    const way = { endpoints: new Map<string, string>(), connect: async () => etcd };
    const counted = await askCounters(way, { ...observation, at }, above, AbortSignal.timeout(1000));
    return { calls, read: counted.read };
  }

  test('each of them, and the sum is kept', async () => {
    const { calls, read } = await asked();
    assert.equal(calls, 3);
    assert.equal(read?.members, 3);
    assert.deepEqual(read.sum, {
      ...{ leaderChanges: 9, failedProposals: 0, fsyncs: 300, slowFsyncs: 0, commits: 300, slowCommits: 0 },
    });
  });

  test('of other processes as soon as one has started anew, whichever clock says so', async () => {
    const { read: before } = await asked();
    const earlier = { 1: withContainer({ state: 'running', startedAt: new Date(start - 5_000) }) };
    const { read: later } = await asked(healthy(3, { every: running, slots: earlier }));
    assert.notEqual(later?.processes, before?.processes);
    assert.equal(later?.given, before?.given);
    const other = withInputs({ etcd: { snapshotCount: 7 } });
    assert.notEqual((await asked(healthy(3, { every: all(running, other) }))).read?.given, before?.given);
  });

  test('and nothing is known where one does not answer', async () => {
    assert.equal((await asked(undefined, true)).read, undefined);
  });

  const gone: Change = (slot) => ({ ...slot, peer: undefined }) as never;
  for (const [what, observation] of [
    ['while one of them did not answer before', healthy(3, { every: running, slots: { 1: withEndpoint(silent) } })],
    ['while it is not known since when they run', healthy(3, { every: withContainer({ state: 'running' }) })],
    ['where there is none, as before an adoption', healthy(3, { every: all(running, gone) })],
  ] as const)
    test(`not ${what}`, async () => {
      assert.deepEqual(await asked(observation), { calls: 0, read: undefined });
    });

  test('not twice within a minute, unless one has started or a limit is another', () => {
    const asked = { ...of, above };
    const told = clusterWith(looks({ minute: 0 }));
    assert.equal(isSampleDue(told, asked, after(0.9)), false);
    assert.equal(isSampleDue(told, asked, after(1)), true);
    assert.equal(isSampleDue(clusterWith(undefined), asked, after(0)), true);
    for (const other of [{ processes: 'q' }, { members: 5 }, { above: { leaderChanges: 3 } }])
      assert.equal(isSampleDue(told, { ...asked, ...other }, after(0.1)), true);
  });
});
