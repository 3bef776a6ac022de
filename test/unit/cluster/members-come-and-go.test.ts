import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bootstrapVariables } from '../../../manifests/render/bootstrap-variables.ts';
import { inputsHash } from '../../../manifests/render/inputs-hash.ts';
import type { VolumeRecord } from '../../../manifests/render/volume-record.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { Action, ActionOf } from '../../../reconcile/cluster/know/action.ts';
import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import { votersToProtect } from '../../../reconcile/cluster/know/health/drains.ts';
import type { DiskView, Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import type { ListedMember } from '../../../reconcile/interfaces/etcd.ts';
import {
  all,
  clusterId,
  crashing,
  type Differences,
  endpoint,
  healthy,
  memberId,
  members,
  prepared,
  recordFor,
  silent,
  withContainer,
  withEndpoint,
  withInputs,
  without,
  withPod,
  withRecord,
  withVolume,
} from './observations.ts';

const learnerStatus = (raftAppliedIndex: bigint) =>
  withEndpoint(endpoint(3, { isLearner: true, raftAppliedIndex, leader: 'a0' }));

function listed(...changes: readonly Partial<ListedMember>[]) {
  const known = members(4);
  return {
    ...known,
    members: known.members.map((member, index) => ({ ...member, ...changes[index] })),
  };
}

function asRecorded(record: VolumeRecord) {
  const { ETCD_INITIAL_CLUSTER: initialCluster, ETCD_INITIAL_CLUSTER_STATE: initialClusterState } = bootstrapVariables(
    record,
    'orders-3',
  );
  return (slot: Slot): Slot =>
    slot.configMap ? { ...slot, configMap: { ...slot.configMap, initialCluster, initialClusterState } } : slot;
}

/** Three voters, and a fourth member whose volume says `joining`. */
function joining(change: (slot: Slot) => Slot, differences: Differences = {}): Observation {
  const fourth = prepared(4).slots[3] ?? assert.fail();
  const { memberId: _, ...record } = { ...recordFor(3, 4), state: 'joining' as const };
  const slot = all(withRecord(record), withEndpoint(silent), asRecorded(record))(fourth);
  const disruptionBudget = { state: 'present' as const, minAvailable: (differences.gone ?? []).length > 0 ? 2 : 3 };
  return healthy(3, { spec: { replicas: 4 }, more: [change(slot)], shared: { disruptionBudget }, ...differences });
}

const asIs = (slot: Slot) => slot;

function actionOf(decision: Decision): Action {
  return decision.kind === 'act' ? decision.action : assert.fail(`${decision.reason}: ${decision.message}`);
}

describe('a member that joins', () => {
  test('is recorded first, under the lowest number that nothing bears', () => {
    const action = actionOf(decide(healthy(3, { spec: { replicas: 5 } })));
    assert.partialDeepStrictEqual(action, {
      kind: 'prepare-members',
      members: [{ name: 'orders-3', record: { state: 'joining', clusterId, token: 'tokentokentoken0' } }],
    });
  });

  test('does not take the number of a volume that was kept when its member left', () => {
    const kept = all(without('peer', 'configMap', 'statefulSet', 'pod'), withRecord({ state: 'released' }));
    const fourth = healthy(4).slots[3] ?? assert.fail();
    const observation = healthy(3, { spec: { replicas: 4 }, more: [all(kept, withEndpoint(silent))(fourth)] });
    assert.partialDeepStrictEqual(actionOf(decide(observation)), { members: [{ name: 'orders-4' }] });
  });

  test('does not take the number of a member that a recovery left behind', () => {
    const outvoted = [1, 2].map((ordinal) => ({ name: `orders-${ordinal}`, memberId: memberId(ordinal) }));
    const observation = healthy(1, { spec: { replicas: 3 }, slots: { 0: withRecord({ outvoted }) } });
    assert.partialDeepStrictEqual(actionOf(decide(observation)), { members: [{ name: 'orders-3' }] });
  });

  test('is put on the list before it is started', () => {
    assert.partialDeepStrictEqual(actionOf(decide(joining(asIs))), {
      kind: 'add-learner',
      name: 'orders-3',
      clusterId,
    });
  });

  test('is not put on the list while a voter is away: that one is named', () => {
    const down = all(withPod({ ready: false }), withEndpoint(silent));
    assert.equal(decide(joining(asIs, { slots: { 1: down } })).reason, 'MemberStarting');
  });

  test('is started once it is on the list', () => {
    const membership = listed({}, {}, {}, { name: '', isLearner: true });
    assert.partialDeepStrictEqual(actionOf(decide(joining(asIs, { membership }))), {
      kind: 'start-members',
      peers: ['orders-3'],
    });
  });

  test('gets the list as it is now, where that has changed before it started', () => {
    const { members: four, ...rest } = listed({}, {}, {}, { name: '', isLearner: true });
    const membership = { ...rest, members: four.filter(({ id }) => id !== 'a1') };
    const started = (slot: Slot): Slot => ({ ...slot, statefulSet: healthy(1).slots[0]?.statefulSet ?? assert.fail() });
    const observation = joining(started, { membership, gone: [1] });
    assert.partialDeepStrictEqual(actionOf(decide(observation)), { kind: 'add-learner', name: 'orders-3' });
  });

  for (const [what, applied, reason] of [
    ['becomes a voter when it is sealed and in sync', 1000n, 'PromotingLearner'],
    ['is waited for while it lacks more than a tenth of the log, as etcd would refuse it', 899n, 'LearnerCatchingUp'],
  ] as const) {
    test(what, () => {
      const membership = listed({}, {}, {}, { isLearner: true });
      const fourth = healthy(4).slots[3] ?? assert.fail();
      const observation = healthy(3, {
        spec: { replicas: 4 },
        membership,
        shared: { disruptionBudget: { state: 'present', minAvailable: 3 } },
        more: [all(learnerStatus(applied), withPod({ ready: false }))(fourth)],
      });
      assert.equal(decide(observation).reason, reason);
    });
  }

  test('does not become a voter while its pod is being deleted: it would be away at once', () => {
    const membership = listed({}, {}, {}, { isLearner: true });
    const shared = { disruptionBudget: { state: 'present', minAvailable: 3 } } as const;
    const fourth = healthy(4).slots[3] ?? assert.fail();
    const going = all(learnerStatus(1000n), withPod({ ready: false, leaving: true }));
    const { token, initialCluster } = recordFor(3, 4);
    for (const record of [{}, { token, initialCluster, state: 'joining' as const }]) {
      const more = [all(going, withRecord(record))(fourth)];
      const decision = decide(healthy(3, { spec: { replicas: 4 }, membership, shared, more }));
      assert.notEqual(decision.reason, 'PromotingLearner');
      assert.ok(decision.kind !== 'act' || !('promotes' in decision.action), JSON.stringify(decision));
    }
  });

  /** It runs, answers, and is not sealed yet. */
  function startedLearner(applied: bigint): Slot {
    const fourth = healthy(4).slots[3] ?? assert.fail();
    const { memberId: _, ...record } = { ...recordFor(3, 4), state: 'joining' as const };
    const slot = all(withRecord(record), asRecorded(record), learnerStatus(applied), withPod({ ready: false }))(fourth);
    return slot.configMap ? { ...slot, configMap: { ...slot.configMap, immutable: false } } : assert.fail();
  }
  const withLearner = {
    spec: { replicas: 4 },
    membership: listed({}, {}, {}, { isLearner: true }),
    shared: { disruptionBudget: { state: 'present', minAvailable: 3 } },
  } as const;

  for (const [what, raftIndex, applied, promotes] of [
    ['promoted in the same step, where it lacks the last entry of a short log', 9n, 8n, true],
    ['promoted in the same step, where it lacks a small part of a long log', 100_000n, 96_000n, true],
    ['not promoted yet, where it lacks much of the log', 1000n, 899n, undefined],
  ] as const) {
    test(`is sealed, and ${what}`, () => {
      const leader = withEndpoint(endpoint(0, { leader: 'a0', raftIndex, raftAppliedIndex: raftIndex }));
      const seen = healthy(3, { ...withLearner, more: [startedLearner(applied)], slots: { 0: leader } });
      const { kind, promotes: said } = actionOf(decide(seen)) as ActionOf<'seal-members'>;
      assert.deepEqual([kind, said], ['seal-members', promotes]);
    });
  }

  test('counts for the disruption budget from its record on until it votes', () => {
    const sealed = all(learnerStatus(500n), withPod({ ready: false }))(healthy(4).slots[3] ?? assert.fail());
    for (const [slot, voters] of [
      [startedLearner(500n), 4],
      [sealed, 4],
      [withRecord({ state: 'releasing' })(sealed), 3],
    ] as const)
      assert.equal(votersToProtect(situate(healthy(3, { ...withLearner, more: [slot] }))), voters);
  });
});

describe('a member that leaves', () => {
  test('is the one with the highest number, compared as numbers, and another one leads then', () => {
    const decision = decide(healthy(11, { spec: { replicas: 9 } }));
    assert.partialDeepStrictEqual(actionOf(decision), {
      kind: 'remove-member',
      name: 'orders-10',
      memberId: 'a10',
      clusterId,
      volume: { uid: 'volume-10' },
      successor: { clusterId },
    });
  });

  test('is removed although the removal may have been sent before: that is only ever finished', () => {
    const observation = healthy(3, { slots: { 2: withRecord({ state: 'releasing' }) } });
    assert.partialDeepStrictEqual(actionOf(decide(observation)), { kind: 'remove-member', memberId: 'a2' });
  });

  for (const [whenScaled, keep] of [
    ['Delete', false],
    ['Retain', true],
  ] as const) {
    test(`gives up its peer when the list lacks it; with whenScaled ${whenScaled} its volume ${keep ? 'stays' : 'goes'}`, () => {
      const { members: three, ...rest } = members(3);
      const observation = healthy(3, {
        spec: { replicas: 2, volumeRetention: { whenDeleted: 'Retain', whenScaled } },
        membership: { ...rest, members: three.filter(({ id }) => id !== 'a2') },
        slots: { 2: withRecord({ state: 'releasing' }) },
      });
      assert.partialDeepStrictEqual(actionOf(decide(observation)), {
        kind: 'retire-member',
        name: 'orders-2',
        peer: { uid: 'peer-2' },
        volume: { uid: 'volume-2', memberId: 'a2', state: 'released', keep },
      });
    });
  }

  test('keeps its kept volume for ever, whatever the policy says later', () => {
    const left = all(without('peer', 'configMap', 'statefulSet', 'pod'), withRecord({ state: 'released' }));
    const third = healthy(3).slots[2] ?? assert.fail();
    const observation = healthy(2, { more: [all(left, withEndpoint(silent))(third)] });
    assert.equal(decide(observation).reason, 'Converged');
  });

  test('whose volume forgot which one it was, is a case for a person', () => {
    const { members: three, ...rest } = members(3);
    const nameless = (slot: Slot): Slot => {
      const { memberId: _, ...record } = { ...recordFor(2, 3), state: 'releasing' as const };
      return slot.volume ? { ...slot, volume: { ...slot.volume, record: { kind: 'valid', record } } } : slot;
    };
    const membership = { ...rest, members: three.filter(({ id }) => id !== 'a2') };
    const decision = decide(healthy(3, { membership, slots: { 2: nameless } }));
    assert.deepEqual([decision.kind, decision.reason], ['refuse', 'VolumeRecordUnreadable']);
  });
});

describe('a member that is down', () => {
  const since = (seconds: number, ordinal = 1) => ({
    status: {
      observedGeneration: 3,
      members: [
        {
          name: `orders-${ordinal}`,
          healthy: false,
          unhealthySince: new Date(Date.parse('2026-01-02T03:04:05Z') - seconds * 1000).toISOString(),
        },
      ],
    },
  });
  const lost = all(without('volume', 'pod'), withEndpoint(silent));
  const hanging = all(withPod({ ready: false, container: runningContainer() }), withEndpoint(silent));

  function runningContainer() {
    return healthy(1).slots[0]?.pod?.container ?? assert.fail();
  }

  for (const [what, change, seconds, reason] of [
    ['volume gone, within its grace', lost, 599, 'MemberDown'],
    ['volume gone, after its grace', lost, 600, 'ReplacingMember'],
    ['etcd exits where the others run', all(crashing, withEndpoint(silent)), 600, 'ReplacingMember'],
    ['volume being deleted while it serves: at once', withVolume({ leaving: true }), 0, 'ReplacingMember'],
    ['volume being deleted while it does not', all(withVolume({ leaving: true }), hanging), 600, 'ReplacingMember'],
    [
      'volume being deleted while it does not, within its grace',
      all(withVolume({ leaving: true }), hanging),
      599,
      'MemberDown',
    ],
    ['pod does not end', all(withPod({ leaving: true, ready: false }), withEndpoint(silent)), 600, 'ReplacingMember'],
    ['pod ends, as it was asked to', ending('2026-01-02T03:04:06Z'), 0, 'PodLeaving'],
    ['pod should have ended by now', ending('2026-01-02T03:04:05Z'), 0, 'PodLeaving'],
    ['pod was told to end a moment ago, of a member long down', ending('2026-01-02T03:03:00Z'), 6000, 'PodLeaving'],
    ['pod should have ended long ago', ending('2026-01-02T03:02:05Z'), 0, 'MemberDown'],
    ['pod should have ended long ago, after its grace', ending('2026-01-02T03:02:05Z'), 600, 'ReplacingMember'],
    ['no node is left that has its volume', unscheduled({ state: 'present', homes: 'none' }), 600, 'ReplacingMember'],
    ['its PersistentVolume is gone', unscheduled({ state: 'gone', homes: 'unknown' }), 600, 'ReplacingMember'],
    ['its PersistentVolume is gone, within its grace', unscheduled({ state: 'gone' }), 599, 'MemberDown'],
    ['its node is cordoned or full: it has its volume', unscheduled({ state: 'present' }), 6000, 'PodUnscheduled'],
    ['nothing may be known of its node', unscheduled({ state: 'present', homes: 'unknown' }), 6000, 'PodUnscheduled'],
    ['nothing may be known of its volume', unscheduled({ state: 'unknown', homes: 'unknown' }), 6000, 'PodUnscheduled'],
    ['pod hangs, within its grace', hanging, 119, 'MemberStarting'],
    ['pod hangs, after its grace', hanging, 120, 'RecreatingPod'],
    [
      'pod was made anew already',
      all(hanging, withPod({ createdAt: new Date('2026-01-02T03:03:00Z') })),
      120,
      'MemberStarting',
    ],
  ] as const) {
    test(`${what}: ${reason}`, () => {
      assert.equal(decide(healthy(3, { slots: { 1: change }, ...since(seconds) })).reason, reason);
    });
  }

  function ending(endsBy: string) {
    return all(withPod({ leaving: true, ready: false, endsBy: new Date(endsBy) }), withEndpoint(silent));
  }

  function unscheduled(disk: Partial<DiskView>) {
    return all(
      withPod({ ready: false, unscheduled: 'Unschedulable' }),
      withVolume({ disk: { pv: 'pv-1', state: 'present', homes: 'some', ...disk } }),
      withEndpoint(silent),
    );
  }

  // Found by `npm run explore`, seed 1785103347, walk 87: it waited for ever.
  test('is replaced though the pod of another one is merely old, which is not rolled meanwhile', () => {
    const old = withPod({ upToDate: 'no' });
    const dead = all(withPod({ leaving: true, ready: false }), withEndpoint(silent));
    const decided = (spec: object) => decide(healthy(3, { slots: { 1: dead, 2: old }, ...since(600), ...spec }));
    assert.equal(decided({}).reason, 'ReplacingMember');
    assert.equal(decided({ spec: { replicas: 2 } }).reason, 'RemovingDeadMember');
  });

  test('is not replaced where an old pod does not answer: each is seen to be well by itself (I9)', () => {
    const old = all(withPod({ upToDate: 'no' }), withEndpoint(silent));
    assert.notEqual(decide(healthy(3, { slots: { 1: lost, 2: old }, ...since(600) })).kind, 'act');
  });

  test('is removed once the one that takes its place is recorded', () => {
    const observation = joining(asIs, { spec: { replicas: 3 }, slots: { 1: lost }, ...since(600) });
    assert.partialDeepStrictEqual(actionOf(decide(observation)), { kind: 'remove-member', memberId: 'a1' });
  });

  test('is not replaced where the others are no healthy quorum (I9)', () => {
    for (const size of [1, 2]) {
      const decision = decide(healthy(size, { slots: { 0: lost }, ...since(6000, 0) }));
      assert.notEqual(decision.kind, 'act', decision.reason);
    }
    const decision = decide(healthy(3, { slots: { 1: lost, 2: lost }, ...since(6000) }));
    assert.notEqual(decision.kind, 'act', decision.reason);
  });

  test('and has another configuration than those that run, is not replaced: that broke it', () => {
    const other = (slot: Slot): Slot =>
      slot.statefulSet ? { ...slot, statefulSet: { ...slot.statefulSet, inputsHash: 'another' } } : slot;
    const decision = decide(healthy(3, { slots: { 1: all(crashing, withEndpoint(silent), other) }, ...since(6000) }));
    assert.ok(!['ReplacingMember', 'RemovingDeadMember'].includes(decision.reason), decision.reason);
  });

  /** Its template is made from what its peer says. */
  function made(slot: Slot): Slot {
    if (!slot.statefulSet || !slot.peer) return slot;
    return { ...slot, statefulSet: { ...slot.statefulSet, inputsHash: inputsHash(slot.peer.inputs) } };
  }

  for (const [lastWords, version, isReplaced] of [
    ['discovery failed: walpb: crc mismatch: expected: eeea35e5 computed: debd9f99', '3.6.16', true],
    ['panic: assertion failed: Page expected to be: 80, but self identifies as 119', '3.6.16', true],
    ['failed to open database: invalid database', '3.6.16', true],
    ['failed to open database: permission denied', '3.6.16', false],
    ['discovery failed: walpb: crc mismatch', '3.6.17', false],
  ] as const) {
    const verb = isReplaced ? 'is' : 'is not';
    test(`and has another configuration, on ${version} or not, ${verb} replaced when it says "${lastWords}"`, () => {
      const etcd = { snapshotCount: 5000 };
      const exits = all(
        crashing,
        withContainer({ lastWords, restarts: 5 }),
        withEndpoint(silent),
        withPod({ version }),
        withInputs({ etcd }),
        made,
      );
      const every = withPod({ version: '3.6.16' });
      const decision = decide(healthy(3, { spec: { etcd }, every, slots: { 1: exits }, ...since(6000) }));
      assert.equal(decision.reason === 'ReplacingMember', isReplaced, decision.reason);
    });
  }
});

describe('a voter whose PVC is being deleted', () => {
  const leaving = withVolume({ leaving: true });
  const four: Differences = { spec: { replicas: 3 }, slots: { 1: leaving } };

  test('votes on while the one that takes its place joins', () => {
    const observation = joining(asIs, four);
    const decision = decide(observation);
    assert.partialDeepStrictEqual(decision, { reason: 'AddingLearner', action: { name: 'orders-3' } });
    const learner = { ...observation, membership: listed({}, {}, {}, { isLearner: true, name: '' }) };
    assert.equal(decide(learner).reason, 'StartingMembers');
  });

  test('leaves when that one votes, and hands over first', () => {
    const observation = healthy(4, { ...four, slots: { 0: leaving } });
    assert.partialDeepStrictEqual(decide(observation), {
      reason: 'RemovingMember',
      action: { kind: 'remove-member', name: 'orders-0', successor: { name: 'orders-1' } },
    });
  });

  test('leaves at once where fewer are asked for', () => {
    const decision = decide(healthy(4, { spec: { replicas: 3 }, slots: { 1: leaving } }));
    assert.partialDeepStrictEqual(decision, { action: { kind: 'remove-member', name: 'orders-1' } });
  });

  test('is replaced also where it is the only one, or one of many to go', () => {
    assert.equal(decide(healthy(1, { every: leaving })).reason, 'ReplacingMember');
    assert.equal(decide(healthy(3, { every: leaving })).reason, 'ReplacingMember');
    assert.equal(decide(healthy(2, { spec: { replicas: 1 }, slots: { 0: leaving } })).reason, 'RemovingMember');
  });

  test('stays where two replacements failed: a person must look, and each change retries', () => {
    const failed = {
      at: '2026-01-02T03:00:00Z',
      action: 'remove-member',
      target: 'orders-3',
      reason: 'RemovingFailedLearner',
      message: 'removing the learner orders-3 again',
      outcome: 'acted',
    };
    const after = (failures: number, generation: number) =>
      decide(
        healthy(3, {
          metadata: { generation },
          status: {
            observedGeneration: generation,
            history: Array.from({ length: failures }, () => ({ ...failed, generation: 1 })),
          },
          slots: { 1: leaving },
        }),
      );
    assert.equal(after(1, 1).reason, 'ReplacingMember');
    assert.partialDeepStrictEqual(after(2, 1), { kind: 'refuse', reason: 'LearnersFail' });
    assert.equal(after(2, 2).reason, 'ReplacingMember');
  });

  test('stays where those that stay would be no quorum', () => {
    const down = all(crashing, withEndpoint(silent));
    const decision = decide(healthy(4, { spec: { replicas: 3 }, slots: { 0: leaving, 2: down, 3: down } }));
    assert.notEqual(decision.kind, 'act', decision.reason);
  });
});
