import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { approveCommand } from '../../../manifests/render/kubectl.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { rollBack } from '../../../reconcile/cluster/decide/rules/recovery/roll-back.ts';
import { plan } from '../../../reconcile/cluster/foresee/plan.ts';
import { summaryOf } from '../../../reconcile/cluster/foresee/summary.ts';
import { untried, wantedRollback } from '../../../reconcile/cluster/know/backups/rollback.ts';
import { recordOf } from '../../../reconcile/cluster/know/life.ts';
import type { Observation, RecoveryView, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { withoutOutvoted } from '../../../reconcile/cluster/know/recovery/outvoted.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { statusFor } from '../../../reconcile/cluster/report/status.ts';
import { managed, nothingYet } from './certificates.ts';
import {
  all,
  clusterId,
  healthy,
  noQuorum,
  token,
  unborn,
  without,
  withPod,
  withRecord,
  withVolume,
} from './observations.ts';
import { approvalFor, approved, asked, beside, late, rollback, snapshot, spec } from './rollbacks.ts';

describe('a rollback begins only as approved', () => {
  test('without an approval nothing is done, and the command is told', () => {
    const decision = decide(asked(undefined));
    assert.ok(decision.kind === 'refuse');
    assert.equal(decision.reason, 'RollbackNotApproved');
    assert.match(decision.message, /etcd cluster c1c1 is given up.*everything that was written after revision 81724/);
    const approval = { annotation: annotations.rollBack, value: approvalFor() };
    const command = approveCommand('etcdclusters', { namespace: 'shop', name: 'orders' }, approval);
    assert.ok(decision.cure.endsWith(command), decision.cure);
  });

  test('while the spec asks for no members it does not begin, approved or not, and that is told', () => {
    for (const metadata of [{}, approved()]) {
      const { refusals } = situate(healthy(3, { spec: spec({ replicas: 0 }), metadata })).effective;
      assert.deepEqual(
        refusals.map(({ reason }) => reason),
        ['RollbackHeldUp'],
      );
      assert.match(refusals[0]?.message ?? '', /^spec\.rollback does not begin now: /);
    }
  });

  const other = { ...rollback, snapshot: { ...snapshot, sha256: 'cd'.repeat(32) } };
  for (const [what, text, told] of [
    ['of another etcd cluster', approvalFor().replace(clusterId, 'dead'), /is for another etcd cluster, and void/],
    ['of another snapshot', approvalFor(other), /is for another snapshot, and void/],
    [
      'of the same object with another credential',
      approvalFor({ ...rollback, snapshot: { ...snapshot, gcs: {} } }),
      /void/,
    ],
    ['that is empty', '', /is for another etcd cluster/],
    ['that only begins like it', approvalFor().slice(0, -1), /is for another snapshot/],
    ['with a space', `${approvalFor()} `, /is for another snapshot/],
    ['in upper case', approvalFor().toUpperCase(), /void/],
    ['of a homoglyph', approvalFor().replace('c', 'с'), /is for another etcd cluster/],
    ['of any', 'true', /is for another etcd cluster/],
  ] as const) {
    test(`an approval ${what} is void, and that is told`, () => {
      const decision = decide(asked(text));
      assert.equal(decision.reason, 'RollbackNotApproved');
      assert.match(decision.message, told);
    });
  }

  test('one that gives up another etcd cluster is told, whatever is approved', () => {
    const wish = { ...rollback, clusterID: 'dead' };
    const decision = decide(asked(approvalFor(wish), wish));
    assert.equal(decision.reason, 'RollbackOutdated');
    assert.match(decision.message, /gives up etcd cluster dead, and this is etcd cluster c1c1/);
  });

  test('as approved the member to come is recorded, and nothing else is touched', () => {
    const decision = decide(asked(approvalFor()));
    assert.ok(decision.kind === 'act' && decision.action.kind === 'begin-rollback', JSON.stringify(decision));
    const { member } = decision.action;
    assert.equal(member.name, 'orders-3');
    assert.partialDeepStrictEqual(member.record, {
      state: 'restoring',
      gaveUp: [clusterId],
      token: 'nonce0nonce0nonce0',
    });
    assert.equal(member.record.clusterId, undefined);
    assert.match(decision.message, /3 members of that end, and what was written after revision 81724 is lost/);
  });

  test('an invocation that died while it began is followed with the very member that it recorded', () => {
    const lease = (approval: string): Observation['lease'] => {
      const decision = decide({ ...asked(approvalFor()), nonce: 'first0first0first0' });
      assert.ok(decision.kind === 'act' && decision.action.kind === 'begin-rollback', decision.reason);
      return { kind: 'abandoned', holder: 'other', action: { ...decision.action, approval } };
    };
    for (const [approval, token] of [
      [approvalFor(), 'first0first0first0'],
      [untried(approvalFor()), 'nonce0nonce0nonce0'],
    ] as const) {
      const decision = decide({ ...asked(approvalFor()), lease: lease(approval) });
      assert.ok(decision.kind === 'act' && decision.action.kind === 'begin-rollback', decision.reason);
      assert.equal(decision.action.member.record.token, token);
    }
    const [ref, approval] = [{ name: 'orders-3', uid: 'u' }, approvalFor()];
    const action = {
      kind: 'conclude-restore',
      volume: ref,
      job: ref,
      id: '0123456789ab',
      attempt: 1,
      approval,
    } as const;
    const another = decide({ ...asked(approval), lease: { kind: 'abandoned', holder: 'other', action } });
    assert.ok(another.kind === 'act' && another.action.kind === 'begin-rollback', 'what another step did is over');
  });

  test('it does not begin while the cluster is suspended, recovered or asleep', () => {
    const text = approvalFor();
    const reasons = (differences: Parameters<typeof healthy>[1]) =>
      decide(healthy(3, { spec: spec(), metadata: approved(text), ...differences })).reason;
    assert.equal(reasons({ spec: spec({ suspend: true }) }), 'Suspended');
    const paused = { annotations: { [annotations.rollBack]: text, [annotations.paused]: 'yes' } };
    assert.equal(reasons({ metadata: paused }), 'Paused');
    const until = new Date('2026-01-02T03:05:05Z');
    assert.equal(reasons({ lease: { kind: 'held', holder: 'other', until } }), 'AnotherInvocationActs');
    const recovery = { id: '0123456789ab', attempt: 0, lastSeenOn: {} };
    const recovering = healthy(3, {
      spec: spec(),
      metadata: approved(text),
      slots: { 0: withRecord({ state: 'recovering', recovery }) },
    });
    assert.notEqual(decide(recovering).reason, 'RollingBack');
    assert.ok(
      !reasonsOf(healthy(3, { spec: spec({ replicas: 0 }), metadata: approved(text) })).includes('RollingBack'),
    );
  });
});

function reasonsOf(observation: Observation): readonly string[] {
  return plan(observation).steps.map(({ reason }) => reason);
}

describe('while the snapshot is restored', () => {
  test('its Job is made, and the present cluster is still the cluster', () => {
    const observation = beside(approvalFor(), late());
    assert.equal(decide(observation).reason, 'RestoringSnapshot');
    const situation = situate(observation);
    assert.partialDeepStrictEqual(situation.life, { stage: 'born', clusterId, token });
    const status = statusFor(situation, decide(observation), { kind: 'none' });
    assert.partialDeepStrictEqual(status, { clusterID: clusterId, readyReplicas: 3 });
    assert.equal(status.gaveUp, undefined, 'nothing is given up yet');
  });

  test('an approval that is taken back, or a wish that is gone, calls it off', () => {
    for (const observation of [
      beside(undefined, late(1)),
      beside(`${approvalFor()}x`, late(1)),
      { ...beside(approvalFor(), late(1)), cluster: healthy(3, { metadata: approved() }).cluster },
      beside(approvalFor(), late(1, { gaveUp: ['dead'] })),
    ]) {
      const decision = decide(observation);
      assert.equal(decision.reason, 'CallingOffRollback', JSON.stringify(decision));
      assert.match(decision.message, /its rollback is not approved any more, or another one is/);
      assert.partialDeepStrictEqual(decision, { action: { kind: 'call-off-rollback', name: 'orders-3' } });
    }
  });

  test('a second volume of it, which a late request made, is called off', () => {
    const second = { ...late(), name: 'orders-4', ordinal: 4 };
    const observation = beside(approvalFor(), late());
    const decision = decide({ ...observation, slots: [...observation.slots, second] });
    assert.ok(decision.kind === 'act' && decision.action.kind === 'call-off-rollback', decision.reason);
    assert.equal(decision.action.name, 'orders-4');
  });

  test('a volume of it that is being deleted, or is lost, is not waited for', () => {
    const slot = late(1);
    assert.ok(slot.volume);
    const gone = { ...slot, volume: { ...slot.volume, lost: true } };
    const off = decide(beside(approvalFor(), gone));
    assert.equal(off.reason, 'CallingOffRollback');
    assert.match(off.message, /^orders-3 goes: its volume is lost, and the rollback begins anew, as approved;/);
    const leaving = { ...slot, volume: { ...slot.volume, leaving: true } };
    const decision = decide(beside(approvalFor(), leaving));
    const peer = { name: 'orders-3', uid: 'peer-3' };
    const action = { kind: 'call-off-rollback', name: 'orders-3', peer };
    assert.deepEqual(decision.kind === 'act' && decision.action, action);
    assert.match(decision.message, /its volume is being deleted, and the rollback begins anew, as approved;/);
  });

  test('what is being deleted already is not deleted again, but waited for', () => {
    const slot = late(1);
    assert.ok(slot.volume && slot.peer);
    const volume = { ...slot.volume, leaving: true };
    for (const peer of [
      { ...slot.peer, leaving: true },
      { ...slot.peer, current: false },
    ]) {
      const withVolume = decide(beside(undefined, { ...slot, peer }));
      assert.ok(withVolume.kind === 'act' && withVolume.action.kind === 'call-off-rollback', withVolume.reason);
      assert.equal(withVolume.action.peer, undefined);
      assert.equal(decide(beside(undefined, { ...slot, peer, volume })).reason, 'OldObjectsLeaving');
    }
  });

  test('a member whose peer or ConfigMap was deleted is prepared anew', () => {
    assert.equal(decide(beside(approvalFor(), without('peer')(late()))).reason, 'PreparingMembers');
    const seen = situate(beside(approvalFor(), without('configMap')(late())));
    assert.equal(rollBack(seen)?.reason, 'PreparingMembers', 'where the rule that makes it anew is set aside');
  });
});

test('while its Job waits, a stopped member is started without a quorum, and no recovery offered', () => {
  const id = wantedRollback(asked(undefined))?.id ?? '';
  const job = { name: 'orders-3-restore', uid: 'job', leaving: false, attempt: `${id}/1`, failed: false };
  const waits = {
    ...beside(approvalFor(), late(1), { job: { ...job, trial: true } }),
    membership: noQuorum('no quorum answers'),
  };
  const stopped = (slot: Slot) => (slot.ordinal < 3 ? without('statefulSet')(slot) : slot);
  const decision = decide({ ...waits, slots: waits.slots.map(stopped) });
  assert.deepEqual([decision.kind, decision.reason], ['act', 'StartingMembers']);
  const lost = (slot: Slot) => (slot.ordinal < 3 ? all(withVolume({ lost: true }), without('pod'))(slot) : slot);
  const members = [0, 1, 2].map((n) => ({
    name: `orders-${n}`,
    healthy: false,
    unhealthySince: '2026-01-02T01:00:00Z',
  }));
  const status = { observedGeneration: 3, members } as never;
  const long = { ...waits, cluster: { ...waits.cluster, status }, slots: waits.slots.map(lost) };
  const told = decide(long);
  assert.deepEqual([told.reason, told.besides], ['AwaitingRestore', undefined]);
});

describe('a trial of what is restored', () => {
  const id = wantedRollback(asked(undefined))?.id ?? '';
  const job = { name: 'orders-3-restore', uid: 'job', leaving: false, attempt: `${id}/1`, failed: false };
  const tried = { ...job, trial: true } as const;
  const of = (view: Partial<Extract<RecoveryView, { kind: 'known' }>>, given = approvalFor()) =>
    decide(beside(given, late(1), view));
  const pod = { name: 'orders-3-restore-x', uid: 'pod', leaving: false, ready: false, job: 'job' } as const;

  test('is part of its Job, unless the approval goes without', () => {
    for (const [given, trial] of [
      [approvalFor(), true],
      [untried(approvalFor()), undefined],
    ] as const) {
      const decision = of({}, given);
      assert.ok(decision.kind === 'act' && decision.action.kind === 'restore-snapshot', decision.reason);
      assert.equal(decision.action.trial, trial);
    }
  });

  test('a Job without it is made anew, and so is one with it once a person waives it', () => {
    assert.equal(of({ job: { ...job, completed: true, failed: true } }).reason, 'RepeatingRestore');
    assert.equal(of({ job: tried }, untried(approvalFor())).reason, 'RepeatingRestore');
    assert.equal(of({ job: tried }).reason, 'AwaitingRestore');
    assert.equal(of({ job: { ...tried, completed: true, failed: true } }).reason, 'ConcludingRestore');
  });

  test('an etcd that exits is told with its last words, also while kubelet starts it again', () => {
    const failure = { container: 'trial', code: 2, reason: 'Error', words: 'invalid database' };
    for (const failed of [false, true]) {
      const pods = [{ ...pod, waiting: 'CrashLoopBackOff', failure }];
      const decision = of({ job: { ...tried, failed }, pods });
      assert.ok(decision.kind === 'refuse', decision.reason);
      assert.equal(decision.reason, 'RollbackTrialFailed');
      assert.match(
        decision.message,
        /exits with 2, and last logged: invalid database; the present cluster is as it was$/,
      );
      assert.match(
        decision.cure,
        /^name another snapshot in spec\.rollback\.snapshot; or call the rollback off: kubectl/,
      );
    }
  });

  test('an etcd that needs more memory than its member may have is told with that cure', () => {
    const failure = { container: 'trial', code: 137, reason: 'OOMKilled', words: '' };
    const decision = of({ job: tried, pods: [{ ...pod, failure }] });
    assert.ok(decision.kind === 'refuse' && decision.reason === 'RollbackTrialFailed', decision.reason);
    assert.match(decision.cure, /^raise spec\.resources\.limits\.memory; /);
  });

  test('without room for the copy, the approval that goes without is told and asked for', () => {
    const told = { reason: 'NoRoomForTrial', message: 'a copy needs 300 MiB, and 200 MiB are free' } as const;
    const failure = { container: 'copy', code: 3, reason: 'Error', words: '', told };
    const decision = of({ job: { ...tried, failed: true }, pods: [{ ...pod, failure }] });
    assert.ok(decision.kind === 'refuse', decision.reason);
    assert.equal(decision.reason, 'RollbackTrialNoRoom');
    assert.match(decision.message, /there is no room: a copy needs 300 MiB, and 200 MiB are free/);
    assert.equal(decision.approval?.value, untried(approvalFor()));
    assert.ok(decision.cure.endsWith(`${annotations.rollBack}=${untried(approvalFor())}`), decision.cure);
  });

  test('a backup that is too large for the copy asks for an approval that goes without', () => {
    const wish = { clusterID: clusterId, backupName: 'nightly' };
    const backup = { name: 'nightly', uid: 'u', clusterId, snapshot };
    const refusal = (bytes: number) => {
      const observation = healthy(3, { spec: { rollback: wish, storage: { size: '1Gi' } } });
      const namedBackups = [{ name: 'nightly', kind: 'fit', backup, bytes }] as const;
      return situate({ ...observation, namedBackups }).effective.refusals.find(({ approval }) => approval);
    };
    const small = refusal(300 * 2 ** 20);
    const large = refusal(410 * 2 ** 20);
    assert.doesNotMatch(small?.approval?.value ?? '', /untried/);
    assert.equal(large?.approval?.value, untried(small?.approval?.value ?? ''));
    assert.match(
      large?.approval?.approves ?? '',
      /without a trial: a volume of 1Gi \(spec\.storage\.size\) has no room/,
    );
    assert.match(large?.approval?.loses ?? '', /nothing shows before that an etcd serves/);
  });
});

describe('when its data are there', () => {
  const restored = late(1, { state: 'restored', trial: 'passed' });

  test('nothing of it ends where its volume does not say that an etcd has served them (I11)', () => {
    const membership = noQuorum('none is asked');
    const decision = decide({ ...beside(approvalFor(), late(1, { state: 'restored' })), membership });
    assert.ok(decision.kind === 'refuse', decision.reason);
    assert.equal(decision.reason, 'RollbackTrialFailed');
    assert.match(decision.message, /^PersistentVolumeClaim orders-3 does not say that an etcd has served/);
    assert.match(decision.cure, /let only orders-3 go.*kubectl -n shop delete pvc orders-3$/);
    const waived = decide({ ...beside(undefined, late(1, { state: 'restored', trial: 'waived' })), membership });
    assert.equal(waived.reason, 'GivingUpMembers');
  });

  test('a volume that lost that word after all others had ended is told with the way on', () => {
    const marked = healthy(3, {
      spec: spec(),
      every: withRecord({ state: 'superseded' }),
      more: [late(1, { state: 'restored' })],
    });
    const slots = withoutOutvoted(marked.slots).map(({ statefulSet: _, pod: __, ...slot }) => slot);
    const recovery = { kind: 'known', pods: [], nodes: {} } as const;
    const decision = decide({ ...marked, slots, recovery, membership: noQuorum('none is asked') });
    assert.ok(decision.kind === 'refuse' && decision.reason === 'RollbackTrialFailed', decision.reason);
    assert.match(decision.message, /: it does not start, and the members before it have ended$/);
    const [, value] = /annotate pvc orders-3 etcd\.ratchet\.dev\/trial=(\w+); or let/.exec(decision.cure) ?? [];
    assert.ok(value === 'waived');
    const [waived] = withoutOutvoted([late(1, { state: 'restored', trial: value })]);
    const seen = [...slots.slice(0, 3), ...(waived ? [waived] : [])];
    assert.notEqual(decide({ ...marked, slots: seen, recovery }).kind, 'refuse');
  });

  test('the present cluster is given up, whatever the approval says by now', () => {
    for (const given of [approvalFor(), undefined]) {
      const decision = decide({ ...beside(given, restored), membership: noQuorum('none is asked') });
      assert.equal(decision.reason, 'GivingUpMembers');
      assert.ok(decision.kind === 'act' && decision.action.kind === 'outvote-members');
      assert.deepEqual(
        decision.action.volumes.map(({ name }) => name),
        ['orders-0', 'orders-1', 'orders-2'],
      );
      assert.equal(decision.action.replacedAt, '2026-01-02T03:04:05Z');
    }
  });

  test('nothing of it starts before every member has ended, also on a silent node', () => {
    const marked = healthy(3, { spec: spec(), every: withRecord({ state: 'superseded' }), more: [restored] });
    const seen = { ...marked, slots: withoutOutvoted(marked.slots), membership: noQuorum('none is asked') };
    const view = { kind: 'known', pods: [], nodes: {} } as const;
    assert.equal(decide({ ...seen, recovery: view }).reason, 'StoppingMembers');
    const ended = seen.slots.map((slot) => {
      const { statefulSet: _, pod: __, ...rest } = slot;
      return { ...rest, endpoint: { kind: 'unknown', cause: 'it ended' } as const };
    });
    const [first] = seen.slots;
    assert.ok(first?.pod);
    const leaving = ended.map((slot) =>
      slot.name === 'orders-0' && first.pod
        ? { ...slot, pod: { ...first.pod, leaving: true, endsBy: new Date('2026-01-02T03:04:35Z') } }
        : slot,
    );
    const awaited = decide({ ...seen, slots: leaving, recovery: view });
    assert.equal(awaited.reason, 'FencingMembers');
    assert.match(awaited.message, /deleted by force it would count as ended/);
    const lastSeenOn = { 'orders-0': ['node-a'], 'orders-3': ['node-b'] };
    const noted = ended.map((slot) =>
      slot.name === 'orders-3' ? withRecord({ recovery: { id: '0123456789ab', attempt: 1, lastSeenOn } })(slot) : slot,
    );
    const silent = { kind: 'known', pods: [], nodes: { 'node-a': 'silent', 'node-b': 'ready' } } as const;
    assert.equal(decide({ ...seen, slots: noted, recovery: silent }).reason, 'MemberNotFenced');
    assert.equal(decide({ ...seen, slots: ended, recovery: view }).reason, 'DroppingPeers');
  });

  test('a node that is silent, and where a member ran before, ends none that serve (I11)', () => {
    const lastSeenOn = { 'orders-0': ['node-a', 'node-c'], 'orders-1': ['node-b'] };
    const noted = withRecord({ recovery: { id: '0123456789ab', attempt: 1, lastSeenOn } })(restored);
    const of = (change: (slot: Slot) => Slot, nodes: Readonly<Record<string, 'ready' | 'silent'>>) => {
      const found = healthy(3, { spec: spec(), slots: { 0: all(withPod({ node: 'node-c' }), change) }, more: [noted] });
      const seen = { ...found, slots: withoutOutvoted(found.slots), membership: noQuorum('none is asked') };
      return decide({ ...seen, recovery: { kind: 'known', pods: [], nodes } });
    };
    const serving = (slot: Slot) => slot;
    const held = of(serving, { 'node-a': 'silent' });
    assert.equal(held.reason, 'MemberNotFenced');
    assert.match(held.message, /orders-0-0 was seen on node node-a, .*; no member is stopped before that is known$/);
    assert.equal(of(serving, { 'node-a': 'ready' }).reason, 'GivingUpMembers');
    assert.equal(of(serving, { 'node-c': 'silent' }).reason, 'GivingUpMembers', 'it is stopped there, and awaited');
  });

  test('without the record of where members ran, nothing starts beside them (I11)', () => {
    const { recovery: _, ...record } = recordOf(restored) ?? assert.fail();
    const lost = { ...restored, volume: { ...restored.volume, record: { kind: 'valid', record } } } as Slot;
    const marked = healthy(3, { spec: spec(), every: withRecord({ state: 'superseded' }), more: [lost] });
    const seen = { ...marked, slots: withoutOutvoted(marked.slots), membership: noQuorum('none is asked') };
    assert.equal(decide({ ...seen, recovery: { kind: 'known', pods: [], nodes: {} } }).reason, 'StoppingMembers');
  });

  test('once its member was started, a node that turns silent holds nothing up', () => {
    const lastSeenOn = { 'orders-0': ['node-a'] };
    const started = withRecord({ recovery: { id: '0123456789ab', attempt: 1, lastSeenOn } })(restored);
    const [, , third] = healthy(3).slots;
    assert.ok(third?.statefulSet);
    const marked = healthy(3, {
      spec: spec(),
      every: all(withRecord({ state: 'superseded' }), without('peer', 'statefulSet', 'pod')),
      more: [{ ...started, statefulSet: third.statefulSet }],
    });
    const seen = { ...marked, slots: withoutOutvoted(marked.slots), membership: noQuorum('it starts') };
    const decision = decide({ ...seen, recovery: { kind: 'known', pods: [], nodes: { 'node-a': 'silent' } } });
    assert.notEqual(decision.reason, 'MemberNotFenced');
  });

  test('a member whose PVC is gone is stopped as well', () => {
    const marked = healthy(3, { spec: spec(), every: withRecord({ state: 'superseded' }), more: [restored] });
    const slots = withoutOutvoted(marked.slots).map((slot) =>
      slot.name === 'orders-2'
        ? without('volume', 'configMap')(slot)
        : without('statefulSet', 'pod')({ ...slot, endpoint: { kind: 'unknown', cause: 'it ended' } }),
    );
    const recovery = { kind: 'known', pods: [], nodes: {} } as const;
    const decision = decide({ ...marked, slots, membership: noQuorum('none is asked'), recovery });
    assert.ok(decision.kind === 'act' && decision.action.kind === 'stop-members', decision.reason);
    assert.deepEqual(
      decision.action.statefulSets.map(({ name }) => name),
      ['orders-2'],
    );
  });
});

test('a plan says in words what ends, what is lost, and every step from there', () => {
  const observation = asked(approvalFor());
  const made = plan(observation);
  assert.deepEqual(
    made.steps.map(({ reason }) => reason),
    [
      ...['RollingBack', 'RestoringSnapshot', 'ConcludingRestore', 'GivingUpMembers', 'StoppingMembers'],
      ...['DroppingPeers', 'StartingMembers', 'ApplyingServices', 'RestoredSnapshot'],
      ...['PreparingMember', 'SealingMembers', 'PreparingMember', 'SealingMembers'],
    ],
    JSON.stringify(made.end),
  );
  assert.equal(made.end.kind, 'done', JSON.stringify(made.end));
  assert.match(made.steps[0]?.message ?? '', /goes back to gs:\/\/backups\/orders\/a\.db/);
  assert.match(summaryOf(observation, made), /rolled back/);
});

test('a cluster whose volumes are all gone goes on under its name, once that is approved', () => {
  const status = { observedGeneration: 3, clusterID: clusterId };
  const bare = (given?: string) =>
    unborn(3, { spec: spec(), status, ...(given !== undefined && { metadata: approved(given) }) });
  const decision = decide(bare());
  assert.equal(decision.reason, 'AllVolumesGone');
  assert.ok(decision.kind === 'refuse' && decision.cure.includes(`${annotations.rollBack}=${approvalFor()}`));
  const made = plan(bare(approvalFor()));
  assert.equal(made.end.kind, 'done', JSON.stringify(made.end));
  assert.equal(made.steps[0]?.reason, 'RollingBack');
});

test('clients keep the CAs that they trust, also where only those say whose they are', () => {
  const [metadata, status] = [approved(), { observedGeneration: 3, clusterID: clusterId }];
  const tls = { spec: spec({ tls: { mode: 'Managed' } }), metadata };
  const authoritiesOf = (observation: Observation) => {
    const decision = decide(observation);
    assert.ok(decision.kind === 'act' && decision.action.kind === 'begin-rollback', decision.reason);
    return decision.action.member.record.authoritiesOf;
  };
  assert.equal(authoritiesOf(healthy(3, { ...tls, certificates: { kind: 'unread' } })), token);
  assert.equal(authoritiesOf(unborn(3, { ...tls, status, certificates: managed(3) })), token);
  assert.equal(authoritiesOf(unborn(3, { ...tls, status, certificates: nothingYet(3) })), undefined);
  const seen = managed(3);
  assert.ok(seen.kind === 'read' && seen.authorities.client?.record);
  const { client } = seen.authorities;
  const nameless = { ...client, record: { ...seen.authorities.client.record, token: '' } };
  const certificates = { ...seen, authorities: { ...seen.authorities, client: nameless } };
  assert.equal(authoritiesOf(unborn(3, { ...tls, status, certificates })), undefined, 'they do not say whose they are');
});

test('a life that was given up before is remembered once', () => {
  const status = { observedGeneration: 3, clusterID: clusterId, gaveUp: ['c0c0', clusterId] };
  const decision = decide(unborn(3, { spec: spec(), status, metadata: approved() }));
  assert.ok(decision.kind === 'act' && decision.action.kind === 'begin-rollback', decision.reason);
  assert.deepEqual(decision.action.member.record.gaveUp, ['c0c0', clusterId]);
});

test('what volumes remember of earlier lives outranks the status, also where they disagree', () => {
  const other = all(withRecord({ token: 'another' }), withRecord({ gaveUp: ['c0c0'] }));
  const status = { observedGeneration: 3, clusterID: clusterId, gaveUp: ['dead'] };
  const observation = healthy(3, { status, slots: { 0: other } });
  const situation = situate(observation);
  assert.equal(situation.life.stage, 'unclear');
  assert.deepEqual(statusFor(situation, decide(observation), { kind: 'none' }).gaveUp, ['c0c0']);
});

test('when it is over, the same document and approval do nothing', () => {
  const over = healthy(3, {
    spec: spec(),
    metadata: approved(),
    every: withRecord({ gaveUp: [clusterId], clusterId: 'fresh' }),
  });
  const membership = over.membership.kind === 'known' ? { ...over.membership, clusterId: 'fresh' } : over.membership;
  const slots = over.slots.map((slot) =>
    slot.endpoint.kind === 'known'
      ? { ...slot, endpoint: { ...slot.endpoint, status: { ...slot.endpoint.status, clusterId: 'fresh' } } }
      : slot,
  );
  assert.equal(decide({ ...over, membership, slots }).reason, 'Converged');
});
