import assert from 'node:assert/strict';
import { test } from 'node:test';
import { targetOf } from '../../../reconcile/cluster/act/act.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { Endpoint, Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { withLogs } from './disk-logs.ts';
import { all, healthy, memberId, silent, withEndpoint, without, withVolume } from './observations.ts';
import { refusedUntil } from './refused.ts';

/** Of five members three are lost; of the two that are left each tells this by its metrics, or nothing. */

const told = (ordinal: number, applied = 90n, revision = 40n): Endpoint => ({
  kind: 'unknown',
  cause: 'no answer',
  metrics: {
    memberId: memberId(ordinal),
    hasLeader: false,
    isLearner: false,
    applied,
    revision,
    others: [0, 1, 2, 3, 4].filter((one) => one !== ordinal).map(memberId),
  },
});
const gone = all(without('volume', 'pod'), withEndpoint(silent));

function left(first: Endpoint, second: Endpoint): Observation {
  return healthy(5, {
    membership: { kind: 'unknown', cause: 'no quorum' },
    slots: { 0: withEndpoint(first), 1: withEndpoint(second), 2: gone, 3: gone, 4: gone },
  });
}

function members(observation: Observation): readonly string[] {
  const decision = decide(observation);
  if (decision.kind !== 'act' || decision.action.kind !== 'read-logs') return [`${decision.kind} ${decision.reason}`];
  return decision.action.members.map(({ name }) => name);
}

function approvalOf(observation: Observation) {
  const decision = decide(observation);
  assert.ok(decision.kind === 'refuse' && decision.approval, decision.reason);
  return { ...decision.approval, message: decision.message, cure: decision.cure };
}

test('the disks of survivors that were started anew are read, and of those that tell nothing', () => {
  assert.deepEqual(members(left(told(0), told(1))), ['orders-0', 'orders-1']);
  assert.deepEqual(members(left(told(0), silent)), ['orders-1']);
  assert.deepEqual(members(left(silent, silent)), ['orders-0', 'orders-1']);
});

test('the disk of an only survivor is not read, nor any while a quorum may return', () => {
  const one = healthy(3, {
    membership: { kind: 'unknown', cause: 'no quorum' },
    slots: { 0: withEndpoint(told(0)), 1: gone, 2: gone },
  });
  assert.deepEqual(members(one), ['refuse QuorumLost']);
  const two = healthy(3, {
    membership: { kind: 'unknown', cause: 'no quorum' },
    slots: { 0: withEndpoint(told(0)), 1: withEndpoint(silent), 2: withEndpoint(silent) },
  });
  assert.notEqual(decide(two).reason, 'ReadingLogs');
});

test('while Jobs read, it waits, and names them; then it asks', () => {
  const read = withLogs(left(told(0), told(1)), {});
  const reading = read.slots.map((slot) =>
    slot.name === 'orders-1' && slot.log ? { ...slot, log: { kind: 'reading', job: slot.log.job } as const } : slot,
  );
  const decision = decide({ ...read, slots: reading });
  assert.deepEqual([decision.kind, decision.reason], ['wait', 'ReadingLogs']);
  assert.match(decision.message, /; Job orders-1-log-[0-9a-f]{6}: the log on the disk of each/);
  assert.equal(decide(read).reason, 'QuorumLost');
});

test('a disk is read anew in another situation: a pod, a PVC, another loss', () => {
  const read = withLogs(left(told(0), told(1)), {});
  const changed = (change: (slot: Slot) => Slot) => ({
    ...read,
    slots: read.slots.map((slot) => (slot.name === 'orders-1' ? change(slot) : slot)),
  });
  assert.deepEqual(members(changed((slot) => (slot.pod ? { ...slot, pod: { ...slot.pod, uid: 'another' } } : slot))), [
    'orders-1',
  ]);
  assert.deepEqual(members(changed(withVolume({ uid: 'another' }))), ['orders-1']);
});

test('a log is read anew when its member was well since: it may have written more', () => {
  const since = (unhealthySince: string, seen: Observation): Observation => {
    const status = { observedGeneration: 1, members: [{ name: 'orders-1', healthy: false, unhealthySince }] };
    return { ...seen, cluster: { ...seen.cluster, status } };
  };
  const read = withLogs(since('2026-07-10T11:00:00Z', left(told(0), silent)), {});
  assert.deepEqual(members(read), ['refuse QuorumLost']);
  assert.deepEqual(members(since('2026-07-10T11:30:00Z', read)), ['orders-1']);
});

test('the approval shows each disk, and fits only what was shown', () => {
  const tail = { commit: 88n, consistentIndex: 90n, lastIndex: 95n, lastTerm: 3n };
  const { message, loses, value, approves } = approvalOf(
    withLogs(left(told(0), told(1, 91n, 41n)), { 'orders-0': tail }),
  );
  assert.match(message, /orders-1 has the most data \(.*, on its disk a log that is committed up to 90, with the last/);
  assert.match(message, /orders-0 has .* committed up to 88, applied up to 90, with the last entry 95 of term 3/);
  assert.match(approves, /the data of orders-1,/);
  assert.doesNotMatch(loses, /of its own log/);
  const other = approvalOf(withLogs(left(told(0), told(1, 91n, 41n)), { 'orders-0': { ...tail, lastIndex: 96n } }));
  assert.notEqual(value, other.value);
});

test('the survivor of which most is kept is offered: what a longer log adds is dropped', () => {
  const long = { commit: 89n, consistentIndex: 89n, lastIndex: 120n, lastTerm: 4n };
  const { approves } = approvalOf(withLogs(left(told(0, 89n, 39n), told(1)), { 'orders-0': long }));
  assert.match(approves, /the data of orders-1,/);
  const alone = approvalOf(withLogs(left(told(0, 91n, 41n), told(1)), { 'orders-0': { ...long, commit: 91n } }));
  assert.match(alone.loses, /; and entries 92 to 120 of its own log, which it does not know to be committed/);
});

test('what a disk keeps decides, and not what its member says it has applied', () => {
  const lazily = { commit: 90n, consistentIndex: 95n, lastIndex: 95n };
  const logs = { 'orders-0': lazily, 'orders-1': { commit: 92n, consistentIndex: 92n, lastIndex: 92n } };
  const seen = withLogs(left(told(0), told(1, 92n)), logs);
  const asked = approvalOf(seen);
  assert.match(asked.approves, /the data of orders-0,/);
  const metadata = { ...seen.cluster.metadata, annotations: { [asked.annotation]: asked.value } };
  const decision = decide({ ...seen, cluster: { ...seen.cluster, metadata } });
  assert.ok(decision.kind === 'act' && decision.action.kind === 'begin-recovery', decision.reason);
  const shown = new Map(decision.action.shown?.map(({ memberId: id, raftIndex }) => [id, raftIndex]));
  assert.deepEqual([shown.get(memberId(0)), shown.get(memberId(1))], ['90', '92']);
  for (const other of [{ 'orders-0': 'no' }, { 'orders-1': { commit: 91n, consistentIndex: 91n } }])
    assert.match(approvalOf(withLogs(left(told(0), told(1, 92n)), { ...logs, ...other })).approves, /of orders-1,/);
});

test('a silent member that has more on its disk is named first', () => {
  const more = approvalOf(withLogs(left(told(0), silent), { 'orders-1': { commit: 99n, lastIndex: 99n } }));
  assert.match(
    more.message,
    /orders-1 does not answer, and has on its disk a log .* up to 99, .*; orders-1 has more than/,
  );
  assert.match(more.cure, /^make orders-1 run, which is then offered; or /);
  const less = approvalOf(withLogs(left(told(0), silent), { 'orders-1': { commit: 80n, consistentIndex: 80n } }));
  assert.doesNotMatch(`${less.message}${less.cure}`, /has more|make orders-1 run/);
});

test('where no member answers, the one with the most on its disk is to run first', () => {
  const decision = decide(withLogs(left(silent, silent), { 'orders-1': { commit: 99n, lastIndex: 99n } }));
  assert.ok(decision.kind === 'refuse' && !decision.approval, decision.reason);
  assert.match(decision.message, /no other member answers; orders-0 does not answer, .* up to 90, .* up to 99, /);
  assert.match(decision.cure, /orders-1 has the most on its disk: make it run/);
});

test('what can’t be read is said, and holds no approval up', () => {
  const damaged = withLogs(left(told(0), told(1)), { 'orders-1': '0.wal, at byte 9: a record is damaged' });
  assert.match(approvalOf(damaged).message, /on its disk what is not known \(0\.wal, at byte 9: a record is damaged\)/);
  const decisions = refusedUntil(left(told(0), told(1)), ({ reason }) => reason === 'QuorumLost');
  const tried = decisions.map((one) => (one.kind === 'act' ? targetOf(one.action) : one.reason));
  assert.deepEqual(tried, ['orders-0, orders-1', 'orders-0', 'orders-1', 'QuorumLost']);
});
