import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations } from '../../../manifests/render/names.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { gate } from '../../../reconcile/cluster/decide/rules/general/gate.ts';
import { awaitQuorum } from '../../../reconcile/cluster/decide/rules/recovery/await-quorum.ts';
import type { Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import type { ListedMember } from '../../../reconcile/interfaces/etcd.ts';
import {
  all,
  crashing,
  endpoint,
  healthy,
  members,
  noQuorum,
  silent,
  starting,
  unsealed,
  waiting,
  withContainer,
  withEndpoint,
  without,
  withPod,
  withRecord,
  withVolume,
} from './observations.ts';

const down = noQuorum('context deadline exceeded');
const listed = members(3);
const extra = (member: Partial<ListedMember>): Observation['membership'] => ({
  ...listed,
  members: [
    ...listed.members,
    { id: 'ff', name: 'orders-9', peerURLs: ['http://x:2380'], clientURLs: [], isLearner: false, ...member },
  ],
});

/** Of a member that answers no client. */
function withMetrics(applied: bigint): Slot['endpoint'] {
  return { kind: 'unknown', cause: 'no answer', atBirth: toldWith(applied) };
}

function toldWith(applied: bigint) {
  return { memberId: 'a0', hasLeader: false, isLearner: false, applied, revision: 1n, others: [] };
}

const cases: readonly (readonly [string, Observation, 'wait' | 'refuse', string])[] = [
  ['members that start are waited for', starting(3), 'wait', 'WaitingForQuorum'],
  [
    'a birth of which no log has an entry never goes on by itself',
    starting(3, { every: withEndpoint(withMetrics(0n)) }),
    'refuse',
    'BirthCutShort',
  ],
  [
    'as long as one of them has its first entries, it may lead the others',
    starting(3, { every: withEndpoint(withMetrics(0n)), slots: { 2: withEndpoint(withMetrics(3n)) } }),
    'wait',
    'WaitingForQuorum',
  ],
  [
    'or may have them, for all that is known',
    starting(3, { every: withEndpoint(withMetrics(0n)), slots: { 1: withEndpoint(silent) } }),
    'wait',
    'WaitingForQuorum',
  ],
  [
    'members that run and fail the TLS handshake are told apart from dead ones',
    healthy(3, {
      membership: down,
      every: withEndpoint({ kind: 'unknown', cause: 'it is not valid any more', tls: 'CertificateExpired' }),
    }),
    'wait',
    'CertificateExpired',
  ],
  [
    'two volumes of three gone is a lost quorum',
    healthy(3, { membership: down, slots: { 0: without('volume'), 2: withVolume({ lost: true }) } }),
    'refuse',
    'QuorumLost',
  ],
  [
    'one volume of three gone, the others starting: that volume is named',
    healthy(3, { membership: down, every: waiting, slots: { 1: without('volume', 'pod') } }),
    'refuse',
    'VolumeMissing',
  ],
  [
    'an image that cannot be pulled is named',
    starting(3, { slots: { 1: withContainer({ reason: 'ImagePullBackOff' }) } }),
    'refuse',
    'ImageUnavailable',
  ],
  [
    'a pod that finds no node is waited for, and named',
    starting(3, { slots: { 1: withPod({ unscheduled: 'Unschedulable' }) } }),
    'wait',
    'WaitingForQuorum',
  ],
  [
    'another cluster that answers is refused',
    healthy(3, { membership: { ...listed, clusterId: 'd2d2' } }),
    'refuse',
    'ClusterIDMismatch',
  ],
  [
    'a member of another cluster is refused',
    healthy(3, { slots: { 2: withEndpoint(endpoint(2, { clusterId: 'd2d2' })) } }),
    'refuse',
    'ClusterIDMismatch',
  ],
  [
    'a member that nobody knows is named',
    healthy(3, { membership: extra({}), shared: { disruptionBudget: { state: 'present', minAvailable: 3 } } }),
    'refuse',
    'UnknownMember',
  ],
  [
    'a learner that nobody knows is named',
    healthy(3, { membership: extra({ isLearner: true, name: '' }) }),
    'refuse',
    'UnknownMember',
  ],
  [
    'a member that keeps exiting where others run is to be replaced, although a quorum serves',
    healthy(3, { slots: { 1: crashing } }),
    'wait',
    'MemberDown',
  ],
  [
    'a volume that is lost before its member has ever started is a person’s: nobody is replaced during a birth',
    healthy(3, {
      shared: { clientService: { state: 'missing' } },
      slots: { 1: all(unsealed, withVolume({ lost: true }), withPod({ ready: false }), withEndpoint(silent)) },
    }),
    'refuse',
    'VolumeLost',
  ],
  [
    'a member whose pod is being made is waited for',
    healthy(3, { slots: { 1: all(without('pod'), withEndpoint(silent)) } }),
    'wait',
    'PodMissing',
  ],
  [
    'what needs somebody is said before what passes',
    healthy(3, { slots: { 0: waiting, 1: crashing } }),
    'refuse',
    'MemberKeepsExiting',
  ],
  [
    'a member that has not joined yet keeps the birth open',
    healthy(3, { slots: { 2: all(unsealed, waiting) } }),
    'wait',
    'MemberStarting',
  ],
];

for (const [what, observation, kind, reason] of cases) {
  test(`${what}: ${reason}`, () => {
    const decision = decide(observation);
    assert.equal(decision.reason, reason, decision.message);
    assert.equal(decision.kind, kind);
    if (decision.kind === 'wait') assert.ok(decision.wakeOn.length > 0, 'a wait says when to look again');
    if (decision.kind === 'refuse') assert.notEqual(decision.cure, '');
  });
}

describe('a birth without an entry', () => {
  const empty = withEndpoint(withMetrics(0n));
  for (const [what, observation] of [
    [
      'was restored: it has data before it has read them',
      starting(1, {
        every: all(
          withRecord({ state: 'restored' }),
          withEndpoint({ kind: 'unknown', cause: 'no answer', metrics: toldWith(0n) }),
        ),
      }),
    ],
    ['has let clients in', starting(1, { every: empty, shared: { clientService: { state: 'present' } } })],
    [
      'had an ID, as an EtcdPeer says',
      starting(1, {
        every: all(empty, (slot) => (slot.peer ? { ...slot, peer: { ...slot.peer, memberId: 'a0' } } : slot)),
      }),
    ],
    [
      'was sealed, as its ConfigMap says',
      starting(1, {
        every: all(empty, (slot) =>
          slot.configMap ? { ...slot, configMap: { ...slot.configMap, immutable: true } } : slot,
        ),
      }),
    ],
  ] as const)
    test(`is no reason to delete one that ${what}`, () => {
      assert.notEqual(awaitQuorum(situate(observation))?.reason, 'BirthCutShort');
    });

  test('makes no lost quorum of two others that crash', () => {
    const unhealthySince = '2026-01-02T00:00:00Z';
    const status = {
      observedGeneration: 1,
      members: [0, 1, 2].map((n) => ({ name: `orders-${n}`, healthy: false, unhealthySince })),
    };
    const third = all(withContainer({ state: 'running', reason: '' }), empty);
    const decision = decide(starting(3, { status, every: crashing, slots: { 2: third } }));
    assert.equal(decision.reason, 'MemberKeepsExiting');
  });
});

describe('a lost quorum', () => {
  const lost = { 1: without('volume'), 2: without('volume') };

  test('names what is lost and the survivor with the furthest committed log, whatever the terms', () => {
    const decision = decide(
      healthy(4, {
        membership: down,
        slots: {
          ...lost,
          0: withEndpoint(endpoint(0, { raftTerm: 3n, raftIndex: 10n })),
          3: withEndpoint(endpoint(3, { raftTerm: 2n, raftIndex: 9000n })),
        },
      }),
    );
    assert.match(decision.message, /orders-1 \(.*\), orders-2 \(/);
    assert.match(decision.message, /orders-3 has the most data \(term 2, index 9000, revision 10\)/);
  });

  test('says of its approval that nothing can begin while no member tells the list', () => {
    const approvedWith = (membership: Observation['membership']) => {
      const asked = decide(healthy(3, { membership, slots: lost }));
      const value = asked.kind === 'refuse' ? (asked.approval?.value ?? '') : '';
      assert.notEqual(value, '');
      const metadata = { annotations: { [annotations.recoverQuorum]: value } };
      return decide(healthy(3, { membership, slots: lost, metadata }));
    };
    const end = /; that is approved, and can't begin: orders-0 does not tell the member list$/;
    assert.match(approvedWith(down).message, end);
    const { kind, reason } = approvedWith({ kind: 'unknown', cause: 'no quorum', last: listed.members });
    assert.deepEqual([kind, reason], ['act', 'RecoveringQuorum']);
  });

  test('is not assumed while a quorum answers', () => {
    assert.notEqual(decide(healthy(3, { slots: lost })).reason, 'QuorumLost');
  });
});

test('what deletes the sealed members of a birth says that their data go', () => {
  const atBirth = healthy(3, {
    membership: down,
    shared: { clientService: { state: 'missing' } },
    every: withEndpoint(silent),
    slots: { 0: all(withVolume({ lost: true }), withEndpoint(silent)), 2: all(unsealed, withVolume({ lost: true })) },
  });
  const decision = decide(atBirth);
  assert.equal(decision.reason, 'QuorumLost', decision.message);
  assert.match(decision.kind === 'refuse' ? decision.cure : '', /: to start anew with no data, delete the EtcdCluster/);
});

describe('sealing', () => {
  test('names the members that the list and their own endpoint agree on', () => {
    const decision = decide(healthy(3, { every: unsealed, slots: { 2: all(unsealed, waiting) } }));
    assert.deepEqual(decision.kind === 'act' && decision.action, {
      kind: 'seal-members',
      clusterId: 'c1c1',
      members: [0, 1].map((n) => ({ name: `orders-${n}`, memberId: `a${n}`, version: '3.6.16' })),
    });
  });

  test('does not believe an endpoint that answers as another member', () => {
    const decision = decide(healthy(3, { slots: { 2: all(unsealed, withEndpoint(endpoint(1))) } }));
    assert.notEqual(decision.kind === 'act' && decision.action.kind, 'seal-members');
  });

  test('does not believe another cluster once one member is sealed', () => {
    const other = { ...listed, clusterId: 'd2d2' };
    const every = withEndpoint(endpoint(0, { clusterId: 'd2d2' }));
    const decision = decide(
      healthy(3, {
        membership: other,
        every,
        slots: { 2: all(unsealed, withEndpoint(endpoint(2, { clusterId: 'd2d2' }))) },
      }),
    );
    assert.equal(decision.reason, 'ClusterIDMismatch');
  });
});

describe('what a person is told', () => {
  const cureIn = (observation: Observation) => {
    const decision = decide(observation);
    return decision.kind === 'refuse' ? `${decision.reason}: ${decision.cure}` : decision.reason;
  };
  const longAgo = [0, 1, 2].map((ordinal) => ({
    name: `orders-${ordinal}`,
    healthy: false,
    unhealthySince: '2026-01-02T01:00:00Z',
  }));

  test('of members on dead nodes: the nodes come first, and snapshots only where those are gone', () => {
    const stuck = (slot: Slot) =>
      all(
        withPod({
          leaving: true,
          node: `node-${slot.ordinal}`,
          endsBy: new Date('2026-01-02T02:00:00Z'),
          ready: false,
        }),
        withEndpoint(silent),
      )(slot);
    const observation = healthy(3, {
      every: stuck,
      membership: { kind: 'unknown', cause: 'no member runs' },
      status: { observedGeneration: 3, members: longAgo },
    });
    assert.match(cureIn(observation), /^AllMembersLost: bring node node-0, node-1, node-2 back: .*Only where/);
    const snapshot = { object: 'gs://backups/orders/nightly.db', sha256: 'ab'.repeat(32) };
    const newestBackup = { name: 'nightly', takenAt: '2026-01-01T00:00:00Z', verified: true, snapshot };
    const cure = cureIn({ ...observation, newestBackup });
    assert.match(cure, /^AllMembersLost: .*the newest verified backup is EtcdBackup nightly/);
    assert.ok(cure.includes(JSON.stringify({ snapshot })), 'with the document that restores it');
  });

  test('of a handshake that fails: that the member is reachable, and what fails', () => {
    const tls = withEndpoint({ kind: 'unknown', cause: 'it is not valid any more', tls: 'CertificateExpired' });
    const { message } = decide(healthy(3, { membership: { kind: 'unknown', cause: 'none' }, every: tls }));
    assert.match(
      message,
      /etcd on orders-0 is reachable, but the TLS handshake with it fails: it is not valid any more/,
    );
  });

  test('of a pod that does not come: the command with the namespace', () => {
    const waiting = withPod({ unscheduled: 'Unschedulable', ready: false });
    const decision = decide(healthy(3, { slots: { 1: all(waiting, withEndpoint(silent)) } }));
    assert.match(decision.message, /why: kubectl -n shop describe pod orders-1-0/);
  });
});

test('a spec that says the same in other words is converged', () => {
  const spec = { version: 'v3.6.16', storage: { size: '1024Mi' }, resources: {}, podTemplate: {} };
  assert.equal(decide(healthy(3, { spec })).reason, 'Converged');
});

test('a learner of ours that no rule promotes or removes is named by the gate', () => {
  const learner = listed.members.map((member, n) => (n === 2 ? { ...member, isLearner: true } : member));
  const decision = gate(situate(healthy(3, { membership: { ...listed, members: learner } })));
  assert.equal(decision?.reason, 'UnknownLearner');
  assert.match(decision?.message ?? '', /^orders-2 is a learner/);
});
