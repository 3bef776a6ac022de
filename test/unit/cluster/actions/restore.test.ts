import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VolumeRecord } from '../../../../manifests/render/volume-record.ts';
import { bothOf } from '../../../../reconcile/cluster/act/actions/recovery/also-seen.ts';
import type { ActionOf } from '../../../../reconcile/cluster/know/action.ts';
import type {
  Observation,
  RecoveryJobView,
  RecoveryPodView,
  RecoveryView,
  Slot,
} from '../../../../reconcile/cluster/know/observation.ts';
import { all, healthy, noQuorum, silent, withEndpoint, without, withRecord } from '../observations.ts';
import { assertStopped, leftBy, sentBy } from './sent.ts';

/** Each guard of an action by itself: the world is as no rule would begin it, as after the decision it may be. */

const id = '0123456789ab';
const volume = { name: 'orders-0', uid: 'volume-0' };
const gone = without('statefulSet', 'pod');

function seen(
  record: Partial<VolumeRecord>,
  { runs = false, job }: { readonly runs?: boolean; readonly job?: Partial<RecoveryJobView> } = {},
): Observation {
  const observation = healthy(1, {
    membership: noQuorum('no member runs'),
    every: all(withEndpoint(silent), withRecord(record), runs ? without('pod') : gone),
  });
  const own = { name: 'orders-0-restore', uid: 'job', leaving: false, attempt: `${id}/1`, failed: false };
  const recovery: RecoveryView = { kind: 'known', pods: [], nodes: {}, ...(job && { job: { ...own, ...job } }) };
  return { ...observation, recovery };
}

const restoring = (attempt: number): Partial<VolumeRecord> => ({
  state: 'restoring',
  recovery: { id, attempt, lastSeenOn: {} },
});

describe('the Job of a restore', () => {
  const action: ActionOf<'restore-snapshot'> = {
    kind: 'restore-snapshot',
    volume,
    peer: { name: 'orders-0', uid: 'peer-0' },
    id,
    attempt: 1,
    source: 'aaaaaaaaaaaa',
    bump: 1000,
  };

  test('is made once the volume bears the number of its attempt', () => {
    assert.deepEqual(sentBy(action, seen(restoring(0))).writes, ['writeRecord orders-0', 'createRestoreJob orders-0']);
  });

  for (const [what, observation] of [
    ['the member runs, or has what would run it', seen(restoring(0), { runs: true })],
    ['that attempt has a number already', seen(restoring(1))],
    ['its data are there', seen({ ...restoring(0), state: 'restored' })],
    ['its member is sealed', seen({ ...restoring(0), state: 'sealed' })],
  ] as const)
    test(`is not made where ${what} (I11)`, () => assertStopped(sentBy(action, observation)));

  test('is not made for a peer or a volume that was made anew since it was looked at (I11)', () => {
    const another = { name: 'orders-0', uid: 'another' };
    assertStopped(sentBy({ ...action, peer: another }, seen(restoring(0))));
    assertStopped(sentBy({ ...action, volume: another }, seen(restoring(0))));
  });
});

describe('a restore', () => {
  const action: ActionOf<'conclude-restore'> = {
    kind: 'conclude-restore',
    volume,
    job: { name: 'orders-0-restore', uid: 'job' },
    id,
    attempt: 1,
  };
  const done = { failed: true, completed: true } as const;

  test('is concluded on the volume first, and then its Job is deleted', () => {
    const { writes } = sentBy(action, seen(restoring(1), { job: done }));
    assert.deepEqual(writes, ['writeRecord orders-0', 'deleteJob orders-0']);
  });

  const ownPod: RecoveryPodView = { name: 'x', uid: 'pod', leaving: false, ready: false, job: 'job', succeeded: true };
  const byPod = { ...action, pod: { name: 'x', uid: 'pod' } };
  const beside = (pods: readonly RecoveryPodView[], job: Partial<RecoveryJobView> = {}): Observation => {
    const observation = seen(restoring(1), { job });
    assert.ok(observation.recovery?.kind === 'known');
    return { ...observation, recovery: { ...observation.recovery, pods } };
  };

  test('is concluded as soon as the pod of its Job has succeeded', () => {
    assert.deepEqual(sentBy(byPod, beside([ownPod])).writes, ['writeRecord orders-0', 'deleteJob orders-0']);
    assertStopped(sentBy(byPod, beside([{ ...ownPod, job: 'another' }])));
    assertStopped(sentBy(byPod, beside([])));
    const { succeeded: _, ...running } = ownPod;
    assertStopped(sentBy(byPod, beside([running])));
  });

  test('starts its member where no pod of a restore can still write (I11)', () => {
    const starting = { ...byPod, starts: true as const };
    const concluded = ['writeRecord orders-0', 'deleteJob orders-0'];
    const { writes } = sentBy(starting, beside([ownPod]));
    assert.deepEqual(
      writes.filter((write) => !write.startsWith('writeConfigMap')),
      [...concluded, 'makeStatefulSet orders-0'],
    );
    const { succeeded: _, ...running } = ownPod;
    const late = { ...running, name: 'y', uid: 'late' };
    assert.deepEqual(sentBy(starting, beside([ownPod, late], done)).writes, concluded);
  });

  const ofAnother = { state: 'restoring', recovery: { id: 'another', attempt: 1, lastSeenOn: {} } } as const;
  for (const [what, observation] of [
    ['its Job runs', seen(restoring(1), { job: {} })],
    ['its Job has failed', seen(restoring(1), { job: { failed: true } })],
    ['its Job is of another attempt', seen(restoring(1), { job: { ...done, attempt: `${id}/2` } })],
    ['its Job is another one', seen(restoring(1), { job: { ...done, uid: 'another' } })],
    ['its volume is at another attempt', seen(restoring(2), { job: done })],
    ['its volume is of another restore', seen(ofAnother, { job: done })],
    ['its volume is sealed', seen({ ...restoring(1), state: 'sealed' }, { job: done })],
  ] as const)
    test(`is not concluded where ${what} (I11)`, () => assertStopped(sentBy(action, observation)));

  test('is not concluded on a volume that was made anew since it was looked at (I11)', () => {
    const another = { name: 'orders-0', uid: 'another' };
    assertStopped(sentBy({ ...action, volume: another }, seen(restoring(1), { job: done })));
  });
});

describe('a rollback', () => {
  const approval = 'c1c1/0123456789ab';
  const approved = { annotations: { 'etcd.ratchet.dev/roll-back': approval } };
  const gaveUp = ['c1c1'];
  const given = (record: Partial<VolumeRecord>, metadata: object = approved, job?: Partial<RecoveryJobView>) => {
    const observation = seen(record, job && { job });
    return {
      ...observation,
      cluster: { ...observation.cluster, metadata: { ...observation.cluster.metadata, ...metadata } },
    };
  };
  const done = { failed: true, completed: true } as const;
  const tried = { ...done, trial: true } as const;

  test('is begun only while its approval stands (I11)', () => {
    const observation = given(restoring(0), {});
    const [slot] = observation.slots;
    const found = slot?.volume?.record;
    assert.ok(slot?.peer && found?.kind === 'valid');
    const member = { name: 'orders-1', record: { ...found.record, token: 'fresh', gaveUp } };
    const action: ActionOf<'begin-rollback'> = { kind: 'begin-rollback', approval, member, inputs: slot.peer.inputs };
    assertStopped(sentBy(action, observation));
    const { writes, ended } = sentBy(action, given(restoring(0)));
    assert.deepEqual([writes, ended], [['makeVolume orders-1', 'makePeer orders-1', 'makeConfigMap orders-1'], 'done']);
  });

  test('remembers from its beginning where the members run by then (I11)', () => {
    const observation = healthy(1, { metadata: approved });
    const [slot] = observation.slots;
    assert.ok(slot?.peer && slot.pod && slot.volume?.record.kind === 'valid');
    const moved = { ...observation, slots: [{ ...slot, pod: { ...slot.pod, node: 'node-z' } }] };
    const recovery = { id, attempt: 0, lastSeenOn: { 'orders-0': ['node-a'] } };
    const record = { ...slot.volume.record.record, ...restoring(0), token: 'fresh', gaveUp, recovery };
    const { inputs } = slot.peer;
    const member = { name: 'orders-1', record };
    const after = leftBy({ kind: 'begin-rollback', approval, member, inputs }, moved);
    const made = after.slots.find(({ name }) => name === 'orders-1')?.volume?.record;
    assert.ok(made?.kind === 'valid');
    assert.deepEqual(made.record.recovery, { ...recovery, lastSeenOn: { 'orders-0': ['node-a', 'node-z'] } });
  });

  test('remembers where the members run that it gives up, also those that moved since (I11)', () => {
    const action: ActionOf<'conclude-restore'> = {
      ...{ kind: 'conclude-restore', volume, job: { name: 'orders-0-restore', uid: 'job' }, id, attempt: 1 },
      approval,
    };
    const looks = ({ asked }: ReturnType<typeof sentBy>) => asked.includes('seeWhereTheyRun');
    assert.ok(looks(sentBy(action, given({ ...restoring(1), gaveUp }, approved, tried))));
    const { approval: _, ...ofBirth } = action;
    assert.ok(!looks(sentBy(ofBirth, given(restoring(1), {}, done))), 'a birth gives nothing up');
    assert.equal(sentBy(ofBirth, given(restoring(1), approved, done)).ended, 'done', 'an approval of before is no bar');
    const before = { 'orders-0': ['a'], 'orders-1': ['b'] };
    assert.deepEqual(bothOf(before, { 'orders-0': ['c'], 'orders-1': ['b'] }), { ...before, 'orders-0': ['a', 'c'] });
  });

  test('is concluded only while its approval stands (I11)', () => {
    const action: ActionOf<'conclude-restore'> = {
      ...{ kind: 'conclude-restore', volume, job: { name: 'orders-0-restore', uid: 'job' }, id, attempt: 1 },
      approval,
    };
    const record = { ...restoring(1), gaveUp };
    assertStopped(sentBy(action, given(record, {}, tried)));
    assertStopped(sentBy(action, given(record, { annotations: { 'etcd.ratchet.dev/roll-back': 'c1c1/x' } }, tried)));
    assert.equal(sentBy(action, given(record, approved, tried)).ended, 'done');
  });

  test('is concluded only with a Job that tried what it restored, or an approval without (I11)', () => {
    const action: ActionOf<'conclude-restore'> = {
      ...{ kind: 'conclude-restore', volume, job: { name: 'orders-0-restore', uid: 'job' }, id, attempt: 1 },
      approval,
    };
    const record = { ...restoring(1), gaveUp };
    assertStopped(sentBy(action, given(record, approved, done)));
    assert.equal(sentBy(action, given(record, approved, tried)).ended, 'done');
    const waived = `${approval}/untried`;
    const without = { annotations: { 'etcd.ratchet.dev/roll-back': waived } };
    assert.equal(sentBy({ ...action, approval: waived }, given(record, without, done)).ended, 'done');
  });

  test('ends nothing for data that were not tried (I11)', () => {
    const restored = { ...restoring(1), state: 'restored', gaveUp: ['c1c1'] } as const;
    const peers = [{ name: 'orders-1', uid: 'peer-1' }];
    const sets = [{ name: 'orders-1', uid: 'set-1' }];
    const others = [{ name: 'orders-1', uid: 'volume-1' }];
    const pair = (own: Partial<VolumeRecord>, state: VolumeRecord['state']) =>
      healthy(2, { slots: { 0: withRecord(own), 1: withRecord({ state, clusterId: 'c1c1' }) } });
    for (const [action, state] of [
      [{ kind: 'outvote-members', volume, volumes: others, replacedAt: '2026-01-02T03:04:05Z' }, 'sealed'],
      [{ kind: 'stop-members', volume, statefulSets: sets, pods: [] }, 'superseded'],
      [{ kind: 'drop-peers', volume, peers }, 'superseded'],
    ] as const) {
      assertStopped(sentBy(action, pair(restored, state)));
      const { writes } = sentBy(action, pair({ ...restored, trial: 'passed' }, state));
      assert.notDeepEqual(writes, [], action.kind);
    }
  });

  test('is called off only before its data are restored (I4)', () => {
    const action: ActionOf<'call-off-rollback'> = {
      kind: 'call-off-rollback',
      name: 'orders-0',
      peer: { name: 'orders-0', uid: 'peer-0' },
      volume,
    };
    for (const state of ['restored', 'sealed', 'superseded'] as const)
      assertStopped(sentBy(action, given({ ...restoring(1), gaveUp, state })));
    assertStopped(sentBy(action, given(restoring(1))));
    const { writes } = sentBy(action, given({ ...restoring(1), gaveUp }));
    // I7: the volume's resourceVersion fences both.
    assert.deepEqual(writes, ['deleteVolume orders-0', 'deletePeer orders-0']);
  });

  test('is called off where its data are there and lost, if no etcd can have started on them (I4)', () => {
    const action: ActionOf<'call-off-rollback'> = {
      kind: 'call-off-rollback',
      name: 'orders-0',
      peer: { name: 'orders-0', uid: 'peer-0' },
      volume,
    };
    type Change = (slot: Slot) => Slot;
    const after = (record: Partial<VolumeRecord>, change: Change, ...more: readonly Change[]) =>
      sentBy(action, healthy(1, { every: all(withRecord({ ...restoring(1), ...record }), ...more, change) }));
    const isLost = ({ volume: found, ...slot }: Slot) => ({
      ...slot,
      ...(found && { volume: { ...found, lost: true } }),
    });
    const isLeaving = ({ volume: found, ...slot }: Slot) => ({
      ...slot,
      ...(found && { volume: { ...found, leaving: true } }),
    });
    const restored = { state: 'restored', gaveUp } as const;
    assert.deepEqual(after(restored, isLost, gone).writes, ['deleteVolume orders-0', 'deletePeer orders-0']);
    assert.deepEqual(after(restored, isLeaving, gone).writes, ['deletePeer orders-0']);
    assertStopped(after(restored, gone));
    assertStopped(after(restored, isLost, without('pod')));
    assertStopped(after(restored, isLost, without('statefulSet')));
    assertStopped(after({ ...restored, state: 'sealed' }, isLost, gone));
    assertStopped(after({ state: 'restored' }, isLost, gone));
  });

  test('is called off without a volume, and beside one that was made anew', () => {
    const action: ActionOf<'call-off-rollback'> = {
      kind: 'call-off-rollback',
      name: 'orders-0',
      peer: { name: 'orders-0', uid: 'peer-0' },
    };
    const observation = given({ ...restoring(1), gaveUp });
    assert.deepEqual(sentBy(action, observation).writes, ['deletePeer orders-0']);
    const another = { ...action, volume: { ...volume, uid: 'another' } };
    assert.deepEqual(sentBy(another, observation).writes, ['deletePeer orders-0']);
  });

  test('deletes peers of members only that were left behind (I4)', () => {
    const action: ActionOf<'drop-peers'> = {
      kind: 'drop-peers',
      volume,
      peers: [{ name: 'orders-1', uid: 'peer-1' }],
    };
    const pair = (own: Partial<VolumeRecord>, other: Partial<VolumeRecord>) =>
      healthy(2, { slots: { 0: withRecord(own), 1: withRecord(other) } });
    const restored = { ...restoring(1), state: 'restored', gaveUp, trial: 'passed' } as const;
    assertStopped(sentBy(action, pair(restored, {})));
    assertStopped(sentBy(action, pair({ ...restored, state: 'restoring' }, { state: 'superseded' })));
    assertStopped(sentBy(action, pair({ ...restoring(1), state: 'restored' }, { state: 'superseded' })));
    assert.deepEqual(sentBy(action, pair(restored, { state: 'superseded' })).writes, ['deletePeer orders-1']);
    const bare = healthy(2, { slots: { 0: withRecord(restored), 1: without('volume') } });
    assert.deepEqual(sentBy(action, bare).writes, ['deletePeer orders-1']);
  });
});
