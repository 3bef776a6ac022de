import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { revisionsAhead } from '../../../manifests/render/revisions.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { backupFinalizer, volumesFinalizer } from '../../../reconcile/cluster/know/marks.ts';
import type { Observation, RecoveryPodView, RecoveryView, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { tokenOfLife } from '../../../reconcile/cluster/know/recovery/new-life.ts';
import { withoutOutvoted } from '../../../reconcile/cluster/know/recovery/outvoted.ts';
import {
  all,
  endpoint,
  healthy,
  members,
  silent,
  token,
  withEndpoint,
  without,
  withRecord,
  withVolume,
} from './observations.ts';
import { job as forcingJob, id, known, pod as podOfJob, recovery, stopped, superseded } from './recoveries.ts';

const job = { ...forcingJob, begins: true } as const;
const pod: RecoveryPodView = { ...podOfJob, job: 'job' };
const failure = (container: string, more: Partial<NonNullable<RecoveryPodView['failure']>> = {}) => ({
  ...pod,
  failure: { container, code: 3, words: 'its last words', ...more },
});
const told = (reason: 'NoRoomForCopy' | 'Superseded' | 'NotServed' | 'Unexpected', container = 'copy') =>
  failure(container, { told: { reason, message: 'the agent says why' } });

type View = Partial<Extract<RecoveryView, { kind: 'known' }>>;

function seen(change: (slot: Slot) => Slot, view: View = {}, more: Parameters<typeof healthy>[1] = {}): Observation {
  const observation = healthy(3, {
    membership: { kind: 'unknown', cause: 'no quorum', last: members(3).members },
    slots: { 0: all(stopped, change), 1: superseded, 2: superseded },
    ...more,
  });
  return { ...observation, recovery: known(view) };
}

const recovering = (view: View = {}, more: Parameters<typeof healthy>[1] = {}) =>
  seen(withRecord(recovery(view.job ? 1 : 0)), view, more);
const approving = (value: string) => ({ metadata: { annotations: { 'etcd.ratchet.dev/recover-quorum': value } } });
const inWords = (observation: Observation) => {
  const decision = decide(observation);
  return `${decision.kind} ${decision.reason}`;
};

describe('the Job of a recovery', () => {
  const forced = (observation: Observation) => {
    const decision = decide(observation);
    return decision.kind === 'act' && decision.action.kind === 'force-new-cluster' ? decision.action : assert.fail();
  };

  test('makes a new life with a token of its attempt, above all that clients may have seen', () => {
    const { begins } = forced(recovering());
    assert.deepEqual(begins, { token: tokenOfLife({ token }, { id, attempt: 1 }), bump: revisionsAhead });
    assert.notEqual(tokenOfLife({ token }, { id, attempt: 2 }), begins.token);
  });

  test('counts from the least that the volume can hold to the most that is known', () => {
    const floor = 7_000;
    const change = withRecord({ ...recovery(0), revisionFloor: floor });
    assert.equal(forced(seen(change)).begins?.bump, revisionsAhead, 'its life began there');
    assert.equal(
      forced(seen(withRecord(recovery(0)), {}, { status: { observedGeneration: 1, revisionFloor: floor } })).begins
        ?.bump,
      floor + revisionsAhead,
    );
  });

  test('forces the data where they are if members of others know the cluster by its ID', () => {
    const existing = { clusterID: 'c1c1', memberIDs: ['a'], podLabels: { app: 'etcd' } };
    const bootstrap = { existing } as never;
    assert.equal(forced(recovering({}, { spec: { bootstrap } })).begins, undefined);
  });

  test('and where no revisions are left below 2^53, and where a person approved that', () => {
    const revisionFloor = Number.MAX_SAFE_INTEGER - revisionsAhead;
    assert.equal(forced(seen(withRecord({ ...recovery(0), revisionFloor }))).begins, undefined);
    const { begins, withoutCopy } = forced(recovering({}, approving('c1c1/without-copy')));
    assert.deepEqual([begins, withoutCopy], [undefined, true]);
  });
});

const cases: readonly (readonly [string, Observation, string])[] = [
  ['it is awaited', recovering({ job, pods: [pod] }), 'wait RecoveringData'],
  [
    'a pod of it that is Ready proves nothing',
    recovering({ job, pods: [{ ...pod, ready: true }] }),
    'wait RecoveringData',
  ],
  [
    'it is over when its pod has ended well',
    recovering({ job, pods: [{ ...pod, succeeded: true }] }),
    'act ConcludingRecovery',
  ],
  ['or the Job is complete', recovering({ job: { ...job, failed: true, completed: true } }), 'act ConcludingRecovery'],
  [
    'a pod of another Job that has ended well proves nothing',
    recovering({ job, pods: [{ ...pod, job: 'other', succeeded: true }] }),
    'wait RecoveringData',
  ],
  [
    'a copy that etcd does not start on needs a person, while kubelet goes on',
    recovering({ job, pods: [failure('force')] }),
    'refuse RecoveryFailed',
  ],
  [
    'but is made anew where the spec asks for something else by then',
    recovering({ job, pods: [failure('force')] }, { spec: { etcd: { snapshotCount: 5000 } } }),
    'act RepeatingRecovery',
  ],
  [
    'and so does a snapshot that etcdutl refuses',
    recovering({ job: { ...job, failed: true }, pods: [failure('restore')] }),
    'refuse RecoveryFailed',
  ],
  [
    'and an etcd that does not answer',
    recovering({ job: { ...job, failed: true }, pods: [told('NotServed', 'save')] }),
    'refuse RecoveryFailed',
  ],
  [
    'one that comes too late is repeated',
    recovering({ job: { ...job, failed: true }, pods: [told('Superseded')] }),
    'act RepeatingRecovery',
  ],
  [
    'what may pass is tried again',
    recovering({ job: { ...job, failed: true }, pods: [told('Unexpected')] }),
    'act RepeatingRecovery',
  ],
  [
    'but not at once',
    recovering({
      job: { ...job, failed: true, endedAt: new Date('2026-01-02T03:04:00Z') },
      pods: [told('Unexpected')],
    }),
    'wait RecoveringData',
  ],
  [
    'without room a person decides',
    recovering({ job: { ...job, failed: true }, pods: [told('NoRoomForCopy')] }),
    'refuse NoRoomForCopy',
  ],
  [
    'who may go without a copy',
    recovering({ job: { ...job, failed: true }, pods: [told('NoRoomForCopy')] }, approving('c1c1/without-copy')),
    'act RepeatingRecovery',
  ],
];

for (const [what, observation, decided] of cases)
  test(`${what}: ${decided}`, () => assert.equal(inWords(observation), decided));

test('without room it is told what the approval costs clients', () => {
  const decision = decide(recovering({ job: { ...job, failed: true }, pods: [told('NoRoomForCopy')] }));
  assert.ok(decision.kind === 'refuse');
  assert.match(decision.message, /^volume orders-0 has no room for the new life .*: the agent says why$/);
  assert.match(decision.approval?.loses ?? '', /^revisions may go back, .*; and if the recovery damages/);
});

test('the data are as they were where it fails', () => {
  const decision = decide(recovering({ job: { ...job, failed: true }, pods: [failure('restore')] }));
  assert.match(decision.kind === 'refuse' ? decision.cure : '', /the data of orders-0 are as they were$/);
});

test('what it makes gives up the cluster before it, and keeps its authorities', () => {
  const decision = decide(recovering({ job: { ...job, failed: true, completed: true } }));
  assert.ok(decision.kind === 'act' && decision.action.kind === 'conclude-recovery');
  const { token: made, gaveUp, authoritiesOf, initialCluster } = decision.action.begun ?? assert.fail();
  assert.deepEqual([gaveUp, authoritiesOf], [['c1c1'], token]);
  assert.equal(made, tokenOfLife({ token }, { id, attempt: 1 }));
  assert.deepEqual(
    initialCluster.map(({ name }) => name),
    ['orders-0'],
  );
});

describe('its first member', () => {
  const begun = (change: (slot: Slot) => Slot = (slot) => slot) =>
    all(
      withRecord({
        ...recovery(1),
        ...{ token: 'next', state: 'restored', trial: 'recovered', gaveUp: ['c1c1'] },
        clusterId: undefined as never,
        memberId: undefined as never,
      }),
      change,
    );

  test('starts when the peers of the others are gone, which have all ended', () => {
    assert.equal(inWords(seen(begun())), 'act DroppingPeers');
    const without_ = all(superseded, without('peer'));
    const slots = { 0: all(stopped, begun()), 1: without_, 2: without_ };
    assert.equal(inWords(seen(begun(), {}, { slots })), 'act StartingMembers');
  });

  test('waits for the pod of the Job, and for members that started since', () => {
    assert.equal(
      inWords(seen(begun(), { pods: [{ ...pod, leaving: true, endsBy: new Date('2026-01-02T03:04:00Z') }] })),
      'wait RecoveryPodLeaving',
    );
    assert.equal(inWords(seen(begun(), { job })), 'act DeletingRecoveryJob');
    const late = all(withEndpoint(silent), withRecord({ state: 'superseded' }));
    const slots = { 0: all(stopped, begun()), 1: late, 2: superseded };
    assert.equal(inWords(seen(begun(), {}, { slots })), 'act StoppingMembers');
  });

  test('is not called off, and nothing of it deleted, where its volume is lost', () => {
    for (const volume of [{ lost: true }, { leaving: true }]) {
      const decision = decide(seen(begun(withVolume(volume))));
      assert.equal(`${decision.kind} ${decision.reason}`, 'refuse RecoveryVolumeLost');
      assert.doesNotMatch(decision.kind === 'refuse' ? decision.cure : '', /delete/);
    }
  });

  test('does not start on another disk, which may be empty or a copy from before', () => {
    const disk = { pv: 'pv-0', handle: 'a' };
    const gone = all(superseded, without('peer'));
    const on = (pv: string, handle: string, change: (slot: Slot) => Slot = (slot) => slot) => {
      const view = { disk: { pv, handle, state: 'present', homes: 'some' } } as const;
      const first = begun(all(withRecord({ disk }), withVolume(view), change));
      return decide(seen(first, {}, { slots: { 0: all(stopped, first), 1: gone, 2: gone } }));
    };
    assert.equal(on('pv-0', 'a').reason, 'StartingMembers');
    for (const [pv, handle] of [
      ['pv-9', 'b'],
      ['pv-0', 'b'],
    ] as const) {
      assert.equal(on(pv, handle).reason, 'BarringMembers', 'what its pod would start with goes first');
      const decision = on(pv, handle, without('configMap'));
      assert.equal(`${decision.kind} ${decision.reason}`, 'refuse RecoveryVolumeLost');
      assert.match(decision.message, /is on another disk$/);
    }
  });

  test('is not called off either where volumes of before are back, and say that they are sealed', () => {
    const slots = { 0: all(stopped, begun(withVolume({ lost: true }))), 1: stopped, 2: stopped };
    const observation = seen(begun(), {}, { slots });
    const observed = { ...observation, slots: withoutOutvoted(observation.slots) };
    assert.equal(inWords(observed), 'refuse RecoveryVolumeLost');
  });

  test('counts as one that served where it is deleted, and so does what it is made of', () => {
    const deletion = { deletionTimestamp: '2026-01-02T03:04:00Z', finalizers: [backupFinalizer, volumesFinalizer] };
    const to = { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db' } as const;
    const backup = { to, verify: 'Trailer', beforeDeletion: 'Required' } as const;
    const more = { metadata: deletion, spec: { backup } };
    const awaitedBackup = { kind: 'known', before: 'deletion', state: 'missing', name: 'last' } as never;
    for (const change of [begun(), withRecord(recovery(0))]) {
      const decision = decide({ ...seen(change, {}, more), awaitedBackup });
      assert.doesNotMatch(decision.message, /has not served yet/);
    }
  });

  test('is sealed when its list has it alone: the recovery is over', () => {
    const [me] = members(3).members;
    const slots = { 0: all(begun(), withEndpoint(endpoint(0, { clusterId: 'c2c2' }))), 1: superseded, 2: superseded };
    const membership = { ...members(3), clusterId: 'c2c2', members: me ? [me] : [] };
    const decision = decide(healthy(3, { membership, slots }));
    assert.equal(`${decision.kind} ${decision.reason}`, 'act RecoveredQuorum', decision.message);
    assert.match(decision.message, /as the first member of etcd cluster c2c2, which takes the place of c1c1$/);
    const more = decide(healthy(3, { membership: { ...members(3), clusterId: 'c2c2' }, slots }));
    assert.equal(more.reason, 'RecoveredListUnexpected');
    assert.doesNotMatch(more.kind === 'refuse' ? more.cure : '', /delete/);
  });
});
