import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setAsideCodes } from '../../../manifests/render/recovery-job.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { Endpoint, Observation, RecoveryView, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { lossOf } from '../../../reconcile/cluster/know/recovery/lost.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import type { MemberMetrics } from '../../../reconcile/interfaces/etcd.ts';
import { withLogs } from './disk-logs.ts';
import {
  all,
  endpoint,
  healthy,
  memberId,
  members,
  silent,
  withEndpoint,
  without,
  withPod,
  withRecord,
  withVolume,
} from './observations.ts';
import { job, known, pod, recovery, stopped, superseded } from './recoveries.ts';

const stuck = { ...pod, leaving: true, node: 'node-a', endsBy: new Date('2026-01-02T03:00:00Z') };
const failure = (code: number, container = 'etcd') => ({ ...pod, failure: { container, code, words: 'it said so' } });
const down = { kind: 'unknown', cause: 'no quorum', last: members(3).members } as const;

const refusedByQuota = { reason: 'FailedCreate', message: 'exceeded quota: small' };
const notMounted = { reason: 'FailedMount', message: 'wrong fs type' };
const creating = { ...pod, waiting: 'ContainerCreating' };

/** Three members, the first of which the cluster goes on from. */
function seen(
  chosen: (slot: Slot) => Slot,
  others: (slot: Slot) => Slot,
  view: RecoveryView = known(),
  approval?: string,
): Observation {
  const observation = healthy(3, {
    membership: down,
    slots: { 0: chosen, 1: others, 2: others },
    metadata: { ...(approval !== undefined && { annotations: { 'etcd.ratchet.dev/recover-quorum': approval } }) },
  });
  return { ...observation, recovery: view };
}

const chosen = (attempt: number) => all(stopped, withRecord(recovery(attempt)));
const running = withRecord(recovery(0));
const ending = (endsBy: string) => withPod({ leaving: true, node: 'node-b', endsBy: new Date(endsBy) });

const cases: readonly (readonly [string, Observation, string])[] = [
  ['marks that were not made are made first', seen(running, (slot) => slot), 'act OutvotingMembers'],
  ['then everybody stops', seen(running, withRecord({ state: 'superseded' })), 'act StoppingMembers'],
  [
    'a quorum that answers again before anybody was stopped is a person’s to weigh',
    { ...seen(running, withRecord({ state: 'superseded' })), membership: members(3) },
    'refuse QuorumReturned',
  ],
  [
    'a pod that has not ended is waited for',
    seen(chosen(0), all(without('statefulSet'), ending('2026-01-02T03:04:00Z'), withRecord({ state: 'superseded' }))),
    'wait FencingMembers',
  ],
  [
    'one that should long have ended, on a node of which nothing may be known, needs a person',
    seen(chosen(0), all(without('statefulSet'), ending('2026-01-02T03:00:00Z'), withRecord({ state: 'superseded' }))),
    'refuse PodStays',
  ],
  [
    'one on a node that is not heard needs a person',
    seen(
      chosen(0),
      all(without('statefulSet'), withPod({ leaving: true, node: 'node-b' }), withRecord({ state: 'superseded' })),
      known({ nodes: { 'node-b': 'silent' } }),
    ),
    'refuse MemberNotFenced',
  ],
  ['when all have ended, the Job is made', seen(chosen(0), superseded), 'act ForcingNewCluster'],
  ['it is awaited', seen(chosen(1), superseded, known({ job, pods: [pod] })), 'wait RecoveringData'],
  [
    'when it leads itself, it is over',
    seen(chosen(1), superseded, known({ job, pods: [{ ...pod, ready: true }] })),
    'act ConcludingRecovery',
  ],
  [
    'a pod that is Ready and leaves proves nothing',
    seen(
      chosen(1),
      superseded,
      known({ job, pods: [{ ...stuck, ready: true, endsBy: new Date('2026-01-02T03:04:00Z') }] }),
    ),
    'wait RecoveringData',
  ],
  [
    'a Job that has lost its pod is repeated',
    seen(chosen(1), superseded, known({ job: { ...job, failed: true } })),
    'act RepeatingRecovery',
  ],
  ['a Job of another attempt goes', seen(chosen(2), superseded, known({ job, pods: [pod] })), 'act RepeatingRecovery'],
  [
    'one whose pod was killed is repeated',
    seen(chosen(1), superseded, known({ job: { ...job, failed: true }, pods: [failure(137)] })),
    'act RepeatingRecovery',
  ],
  [
    'one that says why it failed needs a person',
    seen(chosen(1), superseded, known({ job: { ...job, failed: true }, pods: [failure(1)] })),
    'refuse RecoveryFailed',
  ],
  [
    'without room for the copy a person decides',
    seen(
      chosen(1),
      superseded,
      known({ job: { ...job, failed: true }, pods: [failure(setAsideCodes.noRoom, 'set-aside')] }),
    ),
    'refuse NoRoomForCopy',
  ],
  [
    'that it may be done without one is approved by its own word',
    seen(
      chosen(1),
      superseded,
      known({ job: { ...job, failed: true }, pods: [failure(setAsideCodes.noRoom, 'set-aside')] }),
      'c1c1/without-copy',
    ),
    'act RepeatingRecovery',
  ],
  [
    'an image that can not be had is told',
    seen(chosen(1), superseded, known({ job, pods: [{ ...pod, waiting: 'ErrImagePull' }] })),
    'refuse RecoveryPodStuck',
  ],
  [
    'a pod that a quota refuses is told',
    seen(chosen(1), superseded, known({ job: { ...job, notStarted: refusedByQuota } })),
    'refuse RecoveryPodStuck',
  ],
  [
    'a volume that is not mounted is told',
    seen(chosen(1), superseded, known({ job: { ...job, notStarted: notMounted }, pods: [creating] })),
    'refuse RecoveryPodStuck',
  ],
  [
    'a pod that is being made is not',
    seen(chosen(1), superseded, known({ job, pods: [{ ...pod, waiting: 'PodInitializing' }] })),
    'wait RecoveringData',
  ],
  [
    'who may not look at Jobs says so',
    seen(chosen(0), superseded, { kind: 'unknown', cause: 'forbidden' }),
    'refuse RecoveryNotPermitted',
  ],
  [
    'the volume itself is being deleted',
    seen(all(chosen(0), withVolume({ leaving: true })), superseded),
    'refuse RecoveryVolumeLost',
  ],
  [
    'two that say that it goes on from them need a person',
    seen(chosen(0), all(stopped, withRecord(recovery(0)))),
    'refuse TwoRecoveries',
  ],
  [
    'afterwards its Job goes',
    seen(all(stopped, withRecord({ ...recovery(1), state: 'recovered' })), superseded, known({ job, pods: [pod] })),
    'act DeletingRecoveryJob',
  ],
  [
    'and the member starts only when its pod is gone: both would have the data open',
    seen(
      all(stopped, withRecord({ ...recovery(1), state: 'recovered' })),
      superseded,
      known({ pods: [{ ...pod, leaving: true, endsBy: new Date('2026-01-02T03:04:00Z') }] }),
    ),
    'wait RecoveryPodLeaving',
  ],
  [
    'a pod of the recovery that long should have ended afterwards, as on a dead node, is named',
    seen(all(stopped, withRecord({ ...recovery(1), state: 'recovered' })), superseded, known({ pods: [stuck] })),
    'refuse PodStays',
  ],
  [
    'and so is one of an earlier attempt',
    seen(all(stopped, withRecord(recovery(1))), superseded, known({ pods: [stuck] })),
    'refuse PodStays',
  ],
  [
    'and one whose Job waits for it to be deleted',
    seen(all(stopped, withRecord(recovery(1))), superseded, known({ job: { ...job, leaving: true }, pods: [stuck] })),
    'refuse PodStays',
  ],
  [
    'and one whose Job does not count it as failed yet',
    seen(all(stopped, withRecord(recovery(1))), superseded, known({ job, pods: [stuck] })),
    'refuse PodStays',
  ],
  [
    'then it starts',
    seen(all(stopped, withRecord({ ...recovery(1), state: 'recovered' })), superseded),
    'act StartingMembers',
  ],
];

for (const [what, observation, decided] of cases) {
  test(`${what}: ${decided}`, () => {
    const decision = decide(observation);
    assert.equal(`${decision.kind} ${decision.reason}`, decided, decision.message);
    if (decision.kind === 'refuse') assert.notEqual(decision.cure, '');
  });
}

test('it is sealed when its list has it alone, and no sooner', () => {
  const slots = {
    0: all(withRecord({ ...recovery(1), state: 'recovered' }), withEndpoint(endpoint(0))),
    1: superseded,
    2: superseded,
  };
  const list = members(3);
  const [me] = list.members;
  const alone = decide(
    healthy(3, {
      membership: { ...list, members: me ? [me] : [] },
      slots,
      shared: { disruptionBudget: { state: 'missing' } },
    }),
  );
  assert.equal(`${alone.kind} ${alone.reason}`, 'act RecoveredQuorum', alone.message);
  assert.match(alone.message, /; revisions may go back, so every client that watches must be restarted then$/);
  const together = decide(healthy(3, { slots }));
  assert.equal(`${together.kind} ${together.reason}`, 'refuse RecoveredListUnexpected', together.message);
});

test('what is said of a loss stays the same from step to step', () => {
  const lossy = () => healthy(3, { membership: down, slots: { 1: without('volume'), 2: without('volume') } });
  const [first, second] = [
    decide(lossy()),
    decide({ ...lossy(), at: new Date('2026-02-01T00:00:00Z'), nonce: 'another' }),
  ];
  assert.deepEqual(first, second);
  assert.match(
    first.kind === 'refuse' ? first.cure : '',
    /kubectl -n shop annotate --overwrite etcdclusters\.etcd\.ratchet\.dev orders etcd\.ratchet\.dev\/recover-quorum-approved-by=\S+ .* etcd\.ratchet\.dev\/recover-quorum=c1c1\/[0-9a-f]{12}$/,
  );
});

test('the pod of a recovery that does not end is named with its node, and what to do about that', () => {
  const observation = seen(all(stopped, withRecord(recovery(1))), superseded, known({ pods: [stuck] }));
  const decision = decide(observation);
  assert.match(decision.message, /^pod orders-0-recovery-x on node node-a of the recovery should have ended/);
  assert.match(
    decision.kind === 'refuse' ? decision.cure : '',
    /^bring node node-a back, .* kubectl taint nodes node-a /,
  );
});

describe('a Job that does not come to run says why, and how to see more', () => {
  for (const [what, view, said, look] of [
    ['its pod is refused', { job: { ...job, notStarted: refusedByQuota } }, /exceeded quota/, 'job orders-0-recovery'],
    [
      'its volume is not mounted',
      { job: { ...job, notStarted: notMounted }, pods: [creating] },
      /FailedMount: wrong fs type/,
      'pod orders-0-recovery-x',
    ],
    [
      'its image is not there',
      { job, pods: [{ ...pod, waiting: 'ErrImagePull' }] },
      /ErrImagePull/,
      'pod orders-0-recovery-x',
    ],
  ] as const)
    test(what, () => {
      const decision = decide(seen(chosen(1), superseded, known(view)));
      assert.match(decision.message, said);
      assert.ok(
        decision.kind === 'refuse' && decision.cure.endsWith(`kubectl -n shop describe ${look}`),
        decision.reason,
      );
    });
});

describe('a survivor that was started without a quorum tells by its metrics what it has', () => {
  const others = [1, 2].map(memberId);
  const told = (change: Partial<MemberMetrics> = {}): Endpoint => ({
    kind: 'unknown',
    cause: 'no answer',
    metrics: {
      ...{ memberId: memberId(0), hasLeader: false, isLearner: false, applied: 90n, revision: 40n, others },
      ...change,
    },
  });
  const nameless = { kind: 'unknown', cause: 'no quorum' } as const;
  const gone = all(without('volume'), (slot) =>
    slot.peer ? { ...slot, peer: { ...slot.peer, memberId: memberId(slot.ordinal) } } : slot,
  );
  const lost = (survivor: Endpoint, approval?: string) =>
    healthy(3, {
      membership: nameless,
      slots: { 0: withEndpoint(survivor), 1: gone, 2: gone },
      metadata: { ...(approval !== undefined && { annotations: { 'etcd.ratchet.dev/recover-quorum': approval } }) },
    });
  const asked = (observation: Observation) => {
    const decision = decide(observation);
    return decision.kind === 'refuse' ? decision.approval?.value : undefined;
  };

  test('the approval that is asked for says what it has, and fits one asked while it answered', () => {
    const decision = decide(lost(told()));
    assert.match(
      decision.message,
      /orders-0 has the most data \(index 90, revision 40\); orders-0 started without a quorum/,
    );
    const answering = lost(endpoint(0, { raftIndex: 90n, raftAppliedIndex: 90n }));
    assert.equal(asked(lost(told())), asked({ ...answering, membership: down }));
  });

  test('once approved, the recovery goes on from it and leaves behind all that anything knows', () => {
    const observation = lost(told({ others: [...others, 'abc'] }));
    const decision = decide(lost(told({ others: [...others, 'abc'] }), asked(observation)));
    assert.ok(decision.kind === 'act' && decision.action.kind === 'begin-recovery', decision.reason);
    assert.deepEqual([decision.action.volume.name, decision.action.raftIndex], ['orders-0', '90']);
    assert.deepEqual(
      new Set(decision.action.outvoted.map(({ name, memberId: one }) => `${name} ${one}`)),
      new Set([`orders-1 ${memberId(1)}`, `orders-2 ${memberId(2)}`, 'abc abc']),
    );
    assert.deepEqual(new Set(decision.action.voters), new Set([0, 1, 2].map(memberId)));
  });

  for (const [what, survivor] of [
    ['it is another member than its volume says', told({ memberId: memberId(1) })],
    ['it hears a leader', told({ hasLeader: true })],
    ['it has no vote', told({ isLearner: true })],
    ['it does not name the others yet', told({ others: [] })],
  ] as const)
    test(`no approval is asked for where ${what}`, () => {
      const decision = decide(lost(survivor));
      assert.equal(decision.reason, 'QuorumLost');
      assert.equal(asked(lost(survivor)), undefined);
      assert.match(decision.message, /; no other member answers$/);
      assert.match(decision.kind === 'refuse' ? decision.cure : '', /make orders-0 run; .* reach its port 2381/);
    });

  test('of two, the one with the higher revision, whatever its log says; then the further log', () => {
    const best = (first: Partial<MemberMetrics>, second: Partial<MemberMetrics>) => {
      const slots = {
        0: withEndpoint(told(first)),
        1: withEndpoint(told({ memberId: memberId(1), others: [0, 2, 3].map(memberId), ...second })),
        2: gone,
        3: gone,
      };
      const { message } = decide(withLogs(healthy(4, { membership: nameless, slots }), {}));
      const both = /(orders-\d) has the most data \(index (\d+), .*\); (orders-\d) has index (\d+), /.exec(message);
      return both?.slice(1).join(' ');
    };
    assert.equal(best({ applied: 90n, revision: 41n }, { applied: 91n }), 'orders-0 90 orders-1 91');
    assert.equal(best({ applied: 90n }, { applied: 91n }), 'orders-1 91 orders-0 90');
    assert.equal(best({}, {}), 'orders-0 90 orders-1 90');
  });
});

test('a PVC that is being deleted is not let go before its disk is kept', () => {
  const cureWhile = (volume: Parameters<typeof withVolume>[0]) => {
    const disk = { pv: 'pv-0', state: 'unknown', homes: 'unknown' } as const;
    const decision = decide(seen(all(chosen(0), withVolume({ disk, ...volume })), superseded));
    return decision.kind === 'refuse' ? decision.cure : '';
  };
  assert.match(cureWhile({ leaving: true }), /^before its pod ends, keep its disk: kubectl patch pv pv-0 .*"Retain"/);
  assert.match(cureWhile({ lost: true }), /^restore its disk/);
});

test('the approval of a recovery without a copy is a field of the refusal', () => {
  const pods = [failure(setAsideCodes.noRoom, 'set-aside')];
  const decision = decide(seen(chosen(1), superseded, known({ job: { ...job, failed: true }, pods })));
  assert.ok(decision.kind === 'refuse', decision.reason);
  assert.equal(decision.approval?.value, 'c1c1/without-copy');
  assert.match(decision.approval.loses, /there are no others: everything is lost then$/);
  assert.ok(decision.cure.endsWith(`${decision.approval.annotation}=${decision.approval.value}`), decision.cure);
});

test('members that are lost are named in their order, in whichever etcd lists them', () => {
  const gone = all(without('volume', 'statefulSet', 'pod'), withEndpoint(silent));
  const last = members(3).members.toReversed();
  const observation = healthy(3, { membership: { ...down, last }, slots: { 1: gone, 2: gone } });
  assert.deepEqual(
    lossOf(situate(observation))?.lost.map(({ name }) => name),
    ['orders-1', 'orders-2'],
  );
});
