import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { Pod } from '../../../manifests/kube-types.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { EtcdWay } from '../../../reconcile/cluster/etcd-way.ts';
import { verdictOf } from '../../../reconcile/cluster/know/health/hashes.ts';
import type { HashAnswer, Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { askHashes } from '../../../reconcile/cluster/observe/ask-hashes.ts';
import { slotsOf } from '../../../reconcile/cluster/observe/slots.ts';
import { type EndpointStatus, EtcdError } from '../../../reconcile/interfaces/etcd.ts';
import type { EtcdAdmin } from '../../../reconcile/interfaces/etcd-admin.ts';
import {
  all,
  clusterId,
  crashing,
  type Differences,
  endpoint,
  healthy,
  memberId,
  members,
  noQuorum,
  silent,
  withContainer,
  withEndpoint,
  withPod,
} from './observations.ts';

const answered = (ordinal: number, hash: number, compactRevision = 4n): HashAnswer => ({
  kind: 'hash',
  memberId: memberId(ordinal),
  hash,
  compactRevision,
});
const silence = (ordinal: number): HashAnswer => ({ kind: 'unknown', memberId: memberId(ordinal), cause: 'no answer' });
const behind = (ordinal: number): HashAnswer => ({ kind: 'behind', memberId: memberId(ordinal) });

/** Then etcd calls nobody ready. */
const raised = (slot: Slot): Slot =>
  all(withPod({ ready: false }), withEndpoint(endpoint(slot.ordinal, { errors: ['alarm:CORRUPT '] })))(slot);
const differing = all(
  crashing,
  withContainer({ lastWords: 'discovery failed: a1 found data inconsistency with peers', restarts: 5 }),
  withEndpoint(silent),
);
const longAgo = {
  observedGeneration: 3,
  members: [
    {
      name: 'orders-1',
      id: memberId(1),
      healthy: false,
      unhealthySince: '2026-01-02T02:00:00Z',
      role: 'Voter' as const,
    },
  ],
};

function seen(answers: readonly HashAnswer[] | undefined, differences: Differences = {}): Observation {
  const size = answers?.length ?? 3;
  return { ...healthy(size, differences), ...(answers && { hashes: { revision: 9n, answers } }) };
}

describe('what hashes prove', () => {
  const table: readonly [string, readonly HashAnswer[], object][] = [
    ['all the same', [answered(0, 7), answered(1, 7), answered(2, 7)], { kind: 'agreed' }],
    [
      'one of three differs',
      [answered(0, 7), answered(1, 8), answered(2, 7)],
      { kind: 'majority', guilty: new Set(['a1']) },
    ],
    ['two of five differ', [7, 8, 7, 9, 7].map((hash, at) => answered(at, hash)), { guilty: new Set(['a1', 'a3']) }],
    ['one lacks what it applied', [answered(0, 7), behind(1), answered(2, 7)], { guilty: new Set(['a1']) }],
    [
      'one compacted to somewhere else, which proves nothing',
      [answered(0, 7), answered(1, 8, 5n), answered(2, 7)],
      { kind: 'majority', guilty: new Set() },
    ],
    ['one does not say', [answered(0, 7), silence(1), answered(2, 7)], { kind: 'majority', guilty: new Set() }],
    [
      'half against half',
      [7, 7, 8, 8].map((hash, at) => answered(at, hash)),
      {
        kind: 'split',
        groups: [
          ['a0', 'a1'],
          ['a2', 'a3'],
        ],
      },
    ],
    ['each another', [7, 8, 9].map((hash, at) => answered(at, hash)), { kind: 'split' }],
    [
      'two of three differ from each other, and the third does not say',
      [answered(0, 7), silence(1), answered(2, 8)],
      { kind: 'split' },
    ],
    [
      'each compacted to somewhere else',
      [answered(0, 7, 1n), answered(1, 7, 2n), answered(2, 7, 3n)],
      { kind: 'open' },
    ],
    ['most do not say', [answered(0, 7), silence(1), silence(2)], { kind: 'open' }],
    [
      'two of four agree, which is no majority',
      [answered(0, 7), answered(1, 7), silence(2), silence(3)],
      { kind: 'open' },
    ],
  ];
  for (const [what, answers, verdict] of table)
    test(what, () => assert.partialDeepStrictEqual(verdictOf(seen(answers)), verdict));

  test('nothing, where no member was asked', () => assert.equal(verdictOf(seen(undefined)).kind, 'unasked'));
});

describe('etcd has raised CORRUPT', () => {
  const table: readonly [string, readonly HashAnswer[] | undefined, Differences, object][] = [
    [
      'the one that differs is replaced at once: first its successor is recorded',
      [answered(0, 7), answered(1, 8), answered(2, 7)],
      {},
      { kind: 'act', reason: 'ReplacingMember', action: { kind: 'prepare-members' } },
    ],
    [
      'where no more than one is asked for, it is removed at once',
      [answered(0, 7), answered(1, 8), answered(2, 7)],
      { spec: { replicas: 1 } },
      {
        reason: 'RemovingCorruptMember',
        action: { name: 'orders-1', corrupt: { revision: '9', trusted: ['a0', 'a2'] } },
      },
    ],
    [
      'a leader that differs hands over first, to one that does not',
      [answered(0, 8), answered(1, 7), answered(2, 7), answered(3, 7), answered(4, 9)],
      { spec: { replicas: 3 } },
      { action: { name: 'orders-0', successor: { name: 'orders-1' } } },
    ],
    [
      'all agree: it is taken back',
      [answered(0, 7), answered(1, 7), answered(2, 7)],
      {},
      { reason: 'Corrupt', action: { kind: 'disarm-corrupt', clusterId, revision: '9' } },
    ],
    [
      'no majority: a person is told who differs from whom',
      [7, 7, 8, 8].map((hash, at) => answered(at, hash)),
      {},
      {
        kind: 'refuse',
        reason: 'DataDiffer',
        message:
          'the data of members differ, and no majority decides whose are right: orders-0, orders-1 against orders-2, orders-3',
      },
    ],
    [
      'most agree, and the other one can’t be compared: a person is told',
      [answered(0, 7), answered(1, 8, 5n), answered(2, 7)],
      {},
      { kind: 'refuse', reason: 'Corrupt' },
    ],
    [
      'none can be compared: a person is told',
      [answered(0, 7, 1n), answered(1, 7, 2n), answered(2, 7, 3n)],
      {},
      { kind: 'refuse', reason: 'Corrupt' },
    ],
    [
      'too few have answered: it is waited for',
      [answered(0, 7), silence(1), silence(2)],
      {},
      { kind: 'wait', reason: 'Corrupt' },
    ],
    ['nobody could be asked: it is waited for', undefined, {}, { kind: 'wait', reason: 'Corrupt' }],
    [
      'out of space as well: whose data are right comes first',
      [7, 7, 8, 8].map((hash, at) => answered(at, hash)),
      { every: (slot) => withEndpoint(endpoint(slot.ordinal, { errors: ['alarm:NOSPACE ', 'alarm:CORRUPT '] }))(slot) },
      { reason: 'DataDiffer' },
    ],
    [
      'most agree, and the other one is down: it is healed like any other',
      [answered(0, 7), silence(1), answered(2, 7)],
      { slots: { 1: all(crashing, withEndpoint(silent)) }, status: longAgo },
      { reason: 'ReplacingMember' },
    ],
  ];
  for (const [what, answers, differences, decision] of table) {
    test(what, () => {
      assert.partialDeepStrictEqual(decide(seen(answers, { every: raised, ...differences })), decision);
    });
  }

  test('no member is touched for it while the others are no healthy quorum', () => {
    const ill = all(withPod({ ready: false }), withContainer({ state: 'waiting' }), withEndpoint(silent));
    const decision = decide(
      seen([answered(0, 7), answered(1, 8), answered(2, 7)], { every: raised, slots: { 2: ill } }),
    );
    assert.notEqual(decision.kind, 'act', decision.reason);
  });
});

describe('a member that does not start because its data differ', () => {
  const differences: Differences = { slots: { 1: differing }, status: longAgo };
  test('is replaced after its grace where the others agree', () => {
    const answers = [answered(0, 7), silence(1), answered(2, 7)];
    assert.equal(decide(seen(answers, differences)).reason, 'ReplacingMember');
    assert.equal(decide(seen(answers, { slots: { 1: differing } })).reason, 'MemberDown');
  });

  test('leaves its volume as evidence', () => {
    const decision = decide(
      seen([answered(0, 7), silence(1), answered(2, 7)], { ...differences, spec: { replicas: 1 } }),
    );
    assert.partialDeepStrictEqual(decision, { action: { kind: 'remove-member', corrupt: { trusted: ['a0', 'a2'] } } });
  });

  test('is kept where the others differ: it may be the sound one', () => {
    const decision = decide(seen([answered(0, 7), silence(1), answered(2, 8)], differences));
    assert.partialDeepStrictEqual(decision, { kind: 'refuse', reason: 'DataDiffer' });
  });

  test('is kept while that is not known', () => {
    for (const answers of [undefined, [answered(0, 7), silence(1), silence(2)]])
      assert.partialDeepStrictEqual(decide(seen(answers, differences)), {
        kind: 'refuse',
        reason: 'MemberKeepsExiting',
      });
  });
});

describe('who is outvoted, and holds more than those who outvote it', () => {
  const at = (answer: HashAnswer, revision: bigint): HashAnswer => ({ ...answer, revision });
  const table: readonly [string, readonly HashAnswer[], object][] = [
    ['is not convicted', [at(answered(0, 7), 9n), at(answered(1, 8), 10n), at(answered(2, 7), 9n)], { kind: 'ahead' }],
    ['nor where the others do not say', [answered(0, 7), at(answered(1, 8), 10n), answered(2, 7)], { kind: 'ahead' }],
    [
      'is convicted where one of them has as much',
      [at(answered(0, 7), 9n), at(answered(1, 8), 10n), at(answered(2, 7), 10n)],
      { kind: 'majority', guilty: new Set(['a1']) },
    ],
    [
      'and nobody is beside it: a person weighs all of it',
      [7, 8, 7, 9, 7].map((hash, ordinal) => at(answered(ordinal, hash), ordinal === 1 ? 10n : 9n)),
      { kind: 'ahead' },
    ],
  ];
  for (const [what, answers, verdict] of table)
    test(what, () => assert.partialDeepStrictEqual(verdictOf(seen(answers)), verdict));

  const ahead = [at(answered(0, 7), 9n), at(answered(1, 8), 10n), at(answered(2, 7), 9n)];
  for (const every of [raised, (slot: Slot) => slot])
    test(`a person is told both revisions, ${every === raised ? 'also under the alarm' : 'without the alarm'}`, () => {
      const decision = decide(seen(ahead, { every }));
      assert.partialDeepStrictEqual(decision, { kind: 'refuse', reason: 'DataDiffer' });
      assert.match(
        decision.message,
        /^orders-1 \(revision 10\) is outvoted by orders-0 \(revision 9\), orders-2 \(revision 9\)/,
      );
    });

  test('where it exits for it, and said at which revision, it is kept as well', () => {
    const differences: Differences = {
      slots: { 1: all(differing, withContainer({ comparedAt: 10n })) },
      status: longAgo,
    };
    const [first, , third] = ahead;
    assert.ok(first && third);
    const decision = decide(seen([first, silence(1), third], differences));
    assert.partialDeepStrictEqual(decision, { kind: 'refuse', reason: 'DataDiffer' });
    assert.match(decision.message, /^orders-1 \(revision 10\) is outvoted by/);
    const further = [at(answered(0, 7), 10n), silence(1), at(answered(2, 7), 10n)];
    assert.equal(decide(seen(further, differences)).reason, 'ReplacingMember');
  });
});

describe('hashes are asked for', () => {
  function asked(observation: Observation, hashKv: EtcdAdmin['hashKv']) {
    const endpoints = new Map(observation.slots.map(({ name }) => [name, `http://${name}`]));
    const etcd = { hashKv, close: () => undefined } as unknown as EtcdAdmin;
    const way: EtcdWay = { endpoints, connect: async () => etcd };
    return askHashes(way, observation, AbortSignal.timeout(5_000));
  }
  const nobody = async () => assert.fail('nobody should be asked');
  const at =
    (revision: bigint, more: Partial<EndpointStatus> = {}) =>
    (slot: Slot) =>
      withEndpoint(endpoint(slot.ordinal, { revision, errors: ['alarm:CORRUPT '], ...more }))(slot);
  const future = async () => {
    throw new EtcdError('future', 'refused', undefined, undefined, 'FutureRevision');
  };

  test('of no member while nothing is suspected, and of none without a quorum', async () => {
    assert.deepEqual(await asked(healthy(3), nobody), {});
    assert.deepEqual(await asked(healthy(3, { every: raised, membership: noQuorum('') }), nobody), {});
    assert.deepEqual(await asked(healthy(3, { slots: { 1: all(crashing, withEndpoint(silent)) } }), nobody), {});
  });

  test('at the highest revision that most have reached, of voters only', async () => {
    const urls: string[] = [];
    const known = members(4);
    const list = { ...known, members: known.members.map((member, index) => ({ ...member, isLearner: index === 3 })) };
    const observation = healthy(4, { every: at(50n), slots: { 0: at(70n), 1: at(60n) }, membership: list });
    const { hashes } = await asked(observation, async (url, { revision }) => {
      urls.push(url);
      return { memberId: `a${url.at(-1)}`, clusterId, hash: 7, hashRevision: revision, compactRevision: 4n };
    });
    assert.equal(hashes?.revision, 60n);
    assert.deepEqual(urls, ['http://orders-0', 'http://orders-1', 'http://orders-2']);
    assert.deepEqual(hashes?.answers[0], { ...answered(0, 7), revision: 70n });
  });

  test('a member without the revision differs only if it has applied all entries', async () => {
    const lagging = { every: at(60n), slots: { 2: at(50n, { raftAppliedIndex: 900n }) } };
    assert.equal((await asked(healthy(3, lagging), future)).hashes?.answers[2]?.kind, 'unknown');
    const caughtUp = { every: at(60n), slots: { 2: at(50n) } };
    assert.equal((await asked(healthy(3, caughtUp), future)).hashes?.answers[2]?.kind, 'behind');
  });

  test('a member with another ID by now, or without an answer, proves nothing', async () => {
    const { hashes } = await asked(healthy(3, { every: raised }), async (url, { revision }) => {
      if (url.endsWith('2')) throw new EtcdError('no answer within 15 s', 'ambiguous');
      return { memberId: 'a0', clusterId, hash: 7, hashRevision: revision, compactRevision: 4n };
    });
    assert.deepEqual(
      hashes?.answers.map(({ kind }) => kind),
      ['hash', 'unknown', 'unknown'],
    );
  });
});

describe('whatever the voters answer', () => {
  const answer = fc.record({
    kind: fc.constantFrom('hash', 'hash', 'hash', 'behind', 'unknown'),
    hash: fc.nat(2),
    compact: fc.nat(1),
    revision: fc.option(fc.bigInt({ min: 9n, max: 11n }), { nil: undefined }),
  });
  const answers = fc.array(answer, { minLength: 1, maxLength: 7 }).map((all) =>
    all.map(({ kind, hash, compact, revision }, ordinal): HashAnswer => {
      const reached = revision === undefined ? {} : { revision };
      if (kind === 'hash') return { ...answered(ordinal, hash, BigInt(compact)), ...reached };
      return kind === 'behind' ? behind(ordinal) : silence(ordinal);
    }),
  );

  test('only a member that a majority contradicts leaves; writes return when all hold the same', () => {
    const reached = new Set<string>();
    fc.assert(
      fc.property(answers, fc.boolean(), (given, fewer) => {
        const spec = { replicas: fewer ? Math.max(1, given.length - 2) : given.length };
        const decision = decide(seen(given, { every: raised, spec }));
        reached.add(decision.reason);
        if (decision.kind !== 'act') return;
        const { action } = decision;
        const told = given.filter((one) => one.kind === 'hash');
        const agreeing = (hash: number, compact: bigint) =>
          told.filter((one) => one.hash === hash && one.compactRevision === compact);
        if (action.kind === 'disarm-corrupt') {
          assert.ok(told.every((one) => agreeing(one.hash, one.compactRevision).length === given.length));
          assert.equal(told.length, given.length);
          return;
        }
        // To grow first, or to remove at once: for somebody whom most contradict.
        const most = told.find((one) => agreeing(one.hash, one.compactRevision).length > given.length / 2);
        assert.ok(most, decision.reason);
        const contradicted = given.filter(
          (one) =>
            one.kind === 'behind' ||
            (one.kind === 'hash' && one.compactRevision === most.compactRevision && one.hash !== most.hash),
        );
        assert.ok(contradicted.length > 0 && contradicted.length < given.length / 2);
        const furthest = agreeing(most.hash, most.compactRevision).map(({ revision = 9n }) => revision);
        for (const { revision = 9n } of contradicted)
          assert.ok(
            furthest.some((other) => other >= revision),
            'who holds more is not outvoted',
          );
        if (action.kind !== 'remove-member') return assert.equal(action.kind, 'prepare-members');
        assert.ok(contradicted.some(({ memberId }) => memberId === action.memberId));
        assert.ok(contradicted.every(({ memberId }) => memberId !== action.successor?.memberId));
        const trusted = agreeing(most.hash, most.compactRevision).map(({ memberId }) => memberId);
        assert.deepEqual(action.corrupt?.trusted, trusted);
      }),
      { numRuns: 2000 },
    );
    for (const reason of ['Corrupt', 'DataDiffer', 'ReplacingMember', 'RemovingCorruptMember'])
      assert.ok(reached.has(reason), `${reason} of ${[...reached].join()}`);
  });
});

/** As kubelet keeps it: the last of the output. All seen on etcd 3.5.35, 3.6.16 and 3.7.3. */
describe('what etcd last said of data that it can’t open', () => {
  const frame = '\tgo.etcd.io/etcd/server/v3@v3.6.16/storage/backend.go:75 +0x1a5';
  const table: readonly [string, string, string][] = [
    [
      'it found them to differ',
      '{"level":"info","msg":"closed etcd server"}\n{"level":"fatal","caller":"etcdmain/etcd.go:183","msg":"discovery failed","error":"5ff5 found data inconsistency with peers","stacktrace":"go.etcd.io"}',
      'discovery failed: 5ff5 found data inconsistency with peers',
    ],
    [
      'it found them to differ, and said at which revision',
      '{"level":"warn","msg":"found different hash values from remote peer","local-member-id":"5ff5","local-member-revision":123456789012345678,"local-member-hash":7,"remote-peer-revision":123456789012345678}\n{"level":"fatal","msg":"discovery failed","error":"5ff5 found data inconsistency with peers"}',
      'discovery failed: 5ff5 found data inconsistency with peers',
    ],
    [
      'a flipped bit in the log',
      '{"level":"fatal","msg":"discovery failed","error":"walpb: crc mismatch: expected: eeea35e5 computed: debd9f99","stacktrace":"x"}',
      'discovery failed: walpb: crc mismatch: expected: eeea35e5 computed: debd9f99',
    ],
    [
      'a database that is none',
      `{"level":"panic","msg":"failed to open database","error":"invalid database","stacktrace":"x"}\npanic: failed to open database\n\ngoroutine 1 [running]:\n${frame}`,
      'failed to open database: invalid database',
    ],
    [
      'garbage in its pages',
      `panic: assertion failed: Page expected to be: 80, but self identifies as 119\n\ngoroutine 12 [running]:\n${frame}`,
      'panic: assertion failed: Page expected to be: 80, but self identifies as 119',
    ],
    [
      'of which the stack has left nothing',
      `goroutine 12 [running]:\n${frame}`,
      'a panic, of which only the stack is left',
    ],
    ['anything else: its last line', 'one\ntwo\n', 'two'],
  ];
  for (const [what, message, words] of table) {
    test(what, () => {
      const pod: Pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'orders-0-0', namespace: 'shop', uid: 'p' },
        spec: { containers: [], nodeName: 'n' },
        status: {
          phase: 'Running',
          containerStatuses: [
            {
              name: 'etcd',
              ready: false,
              restartCount: 4,
              state: { terminated: { exitCode: 2, reason: 'Error', message } },
            },
          ],
        },
      };
      const none = {
        peers: [],
        volumeClaims: [],
        configMaps: [],
        statefulSets: [],
        services: [],
        disruptionBudgets: [],
        networkPolicies: [],
      };
      const [slot] = slotsOf({ cluster: healthy(1).cluster, ...none, pods: [pod] });
      assert.equal(slot?.pod?.container.lastWords, words);
      const revision = /"local-member-revision":(\d+)/.exec(message)?.[1];
      assert.equal(slot?.pod?.container.comparedAt, revision === undefined ? undefined : BigInt(revision));
    });
  }
});
