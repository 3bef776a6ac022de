import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VolumeRecord } from '../../../../manifests/render/volume-record.ts';
import type { ActionOf } from '../../../../reconcile/cluster/know/action.ts';
import type {
  Observation,
  RecoveryJobView,
  RecoveryPodView,
  RecoveryView,
  Slot,
} from '../../../../reconcile/cluster/know/observation.ts';
import {
  all,
  clusterId,
  endpoint,
  healthy,
  memberId,
  noQuorum,
  silent,
  withEndpoint,
  without,
  withRecord,
} from '../observations.ts';
import { assertStopped, sentBy } from './sent.ts';

/** Each guard of an action by itself: the world is as no rule would begin it, as after the decision it may be. */

const id = '0123456789ab';
const volume = { name: 'orders-0', uid: 'volume-0' };
const others = [1, 2].map((ordinal) => ({ name: `orders-${ordinal}`, uid: `volume-${ordinal}` }));
const approval = `${clusterId}/${id}`;
const membership = noQuorum('two of three are lost');

const attempt = (number: number): Partial<VolumeRecord> => ({
  state: 'recovering',
  recovery: { id, attempt: number, lastSeenOn: {} },
});

/** Three members that hear no quorum; the cluster is to go on from the first. */
function lost(slots: Readonly<Record<number, (slot: Slot) => Slot>>, approved = approval): Observation {
  const metadata = { annotations: { 'etcd.ratchet.dev/recover-quorum': approved } };
  return healthy(3, { membership, metadata, slots: { 1: withEndpoint(silent), 2: withEndpoint(silent), ...slots } });
}

describe('a recovery', () => {
  const action: ActionOf<'begin-recovery'> = {
    kind: 'begin-recovery',
    id,
    approval,
    clusterId,
    volume,
    memberId: memberId(0),
    raftIndex: '100',
    voters: [0, 1, 2].map(memberId),
    outvoted: [1, 2].map((ordinal) => ({ name: `orders-${ordinal}`, memberId: memberId(ordinal) })),
    volumes: others,
  };
  const at = (ordinal: number, raftIndex: bigint) => withEndpoint(endpoint(ordinal, { raftIndex }));
  const anew = (ordinal: number, applied: bigint, revision = 40n) =>
    withEndpoint({
      kind: 'unknown',
      cause: 'started without a quorum',
      metrics: { memberId: memberId(ordinal), hasLeader: false, isLearner: false, applied, revision, others: ['abc'] },
    });

  test('is begun on the volume that it goes on from, and then on all others', () => {
    assert.deepEqual(sentBy(action, lost({ 0: at(0, 100n) })).writes, [
      'writeRecord orders-0',
      'writeRecord orders-1',
      'writeRecord orders-2',
    ]);
  });

  test('is begun as well from a member that was started without a quorum, and has the most', () => {
    const world = lost({ 0: anew(0, 100n), 1: anew(1, 101n, 39n), 2: anew(2, 100n) });
    assert.equal(sentBy(action, world).writes[0], 'writeRecord orders-0');
  });

  test('is begun although a survivor tells more, where its disk has less', () => {
    const shown = [memberId(0), memberId(1)].map((one, index) => ({ memberId: one, raftIndex: String(100 + index) }));
    const compared = { ...action, shown };
    const told = lost({ 0: anew(0, 100n), 1: anew(1, 101n) });
    assert.equal(sentBy(compared, told).writes[0], 'writeRecord orders-0');
    assertStopped(sentBy(compared, lost({ 0: anew(0, 100n), 1: anew(1, 102n) })));
  });

  for (const [what, observation] of [
    ['another that was started without a quorum has more', lost({ 0: anew(0, 100n), 1: anew(1, 101n) })],
    ['another has a higher revision', lost({ 0: anew(0, 100n), 1: anew(1, 99n, 41n) })],
    ['its member was started anew, and its log says less', lost({ 0: anew(0, 99n) })],
    ['a quorum answers again', { ...lost({ 0: at(0, 100n) }), membership: healthy(3).membership }],
    ['its member has taken writes since', lost({ 0: at(0, 101n) })],
    ['its member does not answer any more', lost({ 0: withEndpoint(silent) })],
    ['another voter that answers has more', lost({ 0: at(0, 100n), 1: at(1, 101n) })],
    ['the approval was taken back', lost({ 0: at(0, 100n) }, '')],
  ] as const) {
    test(`is not begun where ${what} (I9)`, () => assertStopped(sentBy(action, observation)));
  }
});

test('members are stopped for a recovery only while no quorum answers (I9)', () => {
  const action: ActionOf<'stop-members'> = {
    kind: 'stop-members',
    volume,
    statefulSets: [{ name: 'orders-0', uid: 'set-0' }],
    pods: [{ name: 'orders-0', uid: 'pod-0' }],
  };
  const begun = lost({ 0: withRecord(attempt(0)) });
  const done = lost({ 0: withRecord({ ...attempt(0), state: 'recovered' }) });
  for (const observation of [begun, done])
    assert.ok(sentBy(action, observation).writes.includes('deleteStatefulSet orders-0'));
  assertStopped(sentBy(action, { ...begun, membership: healthy(3).membership }));
});

describe('the Job of a recovery', () => {
  const action: ActionOf<'force-new-cluster'> = {
    kind: 'force-new-cluster',
    volume,
    peer: { name: 'orders-0', uid: 'peer-0' },
    id,
    attempt: 1,
    withoutCopy: false,
  };
  const gone = without('statefulSet', 'pod');
  const forcing = (change: (slot: Slot) => Slot) => sentBy(action, lost({ 0: all(withEndpoint(silent), change) }));

  test('is made once the volume bears the number of its attempt', () => {
    assert.deepEqual(forcing(all(gone, withRecord(attempt(0)))).writes, [
      'writeRecord orders-0',
      'createRecoveryJob orders-0',
    ]);
  });

  test('is not made while the member runs, or has what would run it (I10)', () => {
    assertStopped(forcing(withRecord(attempt(0))));
    assertStopped(forcing(all(without('pod'), withRecord(attempt(0)))));
    assertStopped(forcing(all(without('statefulSet'), withRecord(attempt(0)))));
  });

  test('is not made for an attempt with a Job, nor for a finished or another recovery (I10)', () => {
    assertStopped(forcing(all(gone, withRecord(attempt(1)))));
    assertStopped(forcing(all(gone, withRecord({ ...attempt(0), state: 'recovered' }))));
    assertStopped(
      forcing(all(gone, withRecord({ state: 'recovering', recovery: { id: 'another', attempt: 0, lastSeenOn: {} } }))),
    );
  });
});

describe('a recovery is over', () => {
  const job = { name: 'orders-0-recovery', uid: 'job', leaving: false, attempt: `${id}/1`, failed: false };
  const pod = { name: 'orders-0-recovery-x', uid: 'job-pod', leaving: false, ready: true };
  const action: ActionOf<'conclude-recovery'> = {
    kind: 'conclude-recovery',
    volume,
    job: { name: job.name, uid: job.uid },
    pod: { name: pod.name, uid: pod.uid },
    id,
    attempt: 1,
  };
  const seen = (recovery: Partial<Extract<RecoveryView, { kind: 'known' }>>, record = attempt(1)) =>
    sentBy(action, {
      ...lost({ 0: all(without('statefulSet', 'pod'), withRecord(record)) }),
      recovery: { kind: 'known', pods: [pod], job, nodes: {}, ...recovery },
    });

  test('when its pod leads itself: the volume says so first, then the Job goes', () => {
    assert.deepEqual(seen({}).writes, ['writeRecord orders-0', 'deleteJob orders-0']);
  });

  test('and not while its pod is not Ready, is another one, or is of another Job', () => {
    assertStopped(seen({ pods: [{ ...pod, ready: false }] }));
    assertStopped(seen({ pods: [{ ...pod, uid: 'another' }] }));
    assertStopped(seen({ pods: [] }));
    assertStopped(seen({ job: { ...job, uid: 'another' } }));
  });

  test('and not where the volume is at another attempt', () => {
    assertStopped(seen({}, attempt(2)));
    assertStopped(seen({}, { ...attempt(1), state: 'recovered' }));
  });
});

describe('a new life is there', () => {
  const job: RecoveryJobView = {
    name: 'orders-0-recovery',
    uid: 'job',
    leaving: false,
    attempt: `${id}/1`,
    failed: true,
    completed: true,
    begins: true,
  };
  const begun = { token: 'next', initialCluster: [], version: '3.6.16', gaveUp: [clusterId], authoritiesOf: 'before' };
  const action: ActionOf<'conclude-recovery'> = {
    kind: 'conclude-recovery',
    volume,
    job: { name: job.name, uid: job.uid },
    id,
    attempt: 1,
    begun,
  };
  const pod = { name: 'orders-0-recovery-x', uid: 'job-pod', job: 'job', leaving: false, ready: false } as const;
  const seen = (
    { job: changed = {}, ...view }: { readonly job?: object; readonly pods?: readonly RecoveryPodView[] },
    record = attempt(1),
    of = action,
  ) =>
    sentBy(of, {
      ...lost({ 0: all(without('statefulSet', 'pod'), withRecord(record)) }),
      recovery: { kind: 'known', pods: [], nodes: {}, ...view, job: { ...job, ...changed } as RecoveryJobView },
    });

  test('when the Job is complete: the volume says so first, then the Job goes', () => {
    assert.deepEqual(seen({}).writes, ['writeRecord orders-0', 'deleteJob orders-0']);
  });

  test('or when its pod has ended well, and it is the Job’s', () => {
    const of = { ...action, pod: { name: pod.name, uid: pod.uid } };
    const running = { completed: undefined, failed: false };
    const succeeded = { ...pod, succeeded: true } as const;
    assert.equal(seen({ job: running, pods: [succeeded] }, attempt(1), of).writes.length, 2);
    assertStopped(seen({ job: running, pods: [pod] }, attempt(1), of));
    assertStopped(seen({ job: running, pods: [{ ...succeeded, job: 'other' }] }, attempt(1), of));
  });

  test('and not of a Job that forces the data, nor of another attempt than the volume’s', () => {
    assertStopped(seen({ job: { begins: undefined } }));
    assertStopped(seen({ job: { attempt: `${id}/2` } }));
    assertStopped(seen({ job: { uid: 'another' } }));
    assertStopped(seen({}, attempt(2)));
    assertStopped(seen({}, { ...attempt(1), state: 'restored' }));
  });
});

describe('a member that a recovery left behind', () => {
  const outvote = (ordinal: number, uid: string): ActionOf<'outvote-members'> => ({
    kind: 'outvote-members',
    volume,
    volumes: [{ name: `orders-${ordinal}`, uid }],
  });

  test('is marked also after that, and no other one that has taken its place', () => {
    const over = lost({ 0: withRecord({ outvoted: [{ name: 'orders-1', memberId: memberId(1) }] }) });
    assert.deepEqual(sentBy(outvote(1, 'volume-1'), over).writes, ['writeRecord orders-1']);
    assertStopped(sentBy(outvote(2, 'volume-2'), over));
  });

  test('is not marked on a volume that was made anew', () => {
    const begun = lost({ 0: withRecord(attempt(0)) });
    assert.deepEqual(sentBy(outvote(1, 'another'), begun).writes, []);
  });
});
