import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import { decideSchedule } from '../../../reconcile/schedule/decide.ts';
import { scheduleStatus } from '../../../reconcile/schedule/report.ts';
import { byDueTime, dueAt, isAhead, isGood, isStuck, tooOldSince } from '../../../reconcile/schedule/situation.ts';
import { type Given, now, seen, type Way } from './seen.ts';

const due = '2026-03-01T00:50:00Z';

function one(way: Way, at: string = due): EtcdBackup {
  const [backup = assert.fail()] = seen({ backups: { [at]: way } }).backups;
  return backup;
}

type Status = NonNullable<EtcdBackup['status']>;

function withStatus(backup: EtcdBackup, change: (status: Status) => Status): EtcdBackup {
  return { ...backup, status: change(backup.status ?? { observedGeneration: 1 }) };
}

function without<K extends keyof Status>(field: K): (status: Status) => Status {
  return ({ [field]: _, ...status }) => status as Status;
}

describe('a backup', () => {
  test('is good where it is over, proven and taken, and not else', () => {
    assert.ok(isGood(one('good')));
    assert.ok(!isGood(one('failed')));
    assert.ok(!isGood(withStatus(one('failed'), (status) => ({ ...status, takenAt: now.toISOString() }))));
    assert.ok(!isGood(withStatus(one('good'), without('finishedAt'))));
    assert.ok(!isGood(withStatus(one('good'), without('takenAt'))));
  });

  test('waits for a person only while it is under way, and not leaving', () => {
    const stalled = { type: 'Stalled', status: 'True', reason: 'X', message: '', lastTransitionTime: due } as const;
    const stuck = (way: Way) => isStuck(withStatus(one(way), (status) => ({ ...status, conditions: [stalled] })));
    assert.deepEqual((['under way', 'leaving', 'failed'] as const).map(stuck), [true, false, false]);
  });

  test('is due when it says so, and comes after all that were due before, or have a lower name', () => {
    const late = one('good', '2026-03-01T01:00:00Z');
    const { metadata } = one('good');
    const twin = { ...one('good'), metadata: { ...metadata, name: 'twin' } };
    const other = [one('good'), late, twin].toSorted(byDueTime).map((found) => found.metadata.name);
    assert.deepEqual(other, ['nightly-202603010100', 'twin', 'nightly-202603010050']);
    assert.deepEqual([twin, one('good')].toSorted(byDueTime)[0]?.metadata.name, twin.metadata.name);
    const timeless = { ...late, metadata: { ...metadata, annotations: {} } };
    assert.deepEqual([dueAt(timeless), isAhead(timeless, now)], [undefined, false]);
  });

  test('is too old by what the spec allows, and without that never', () => {
    const { schedule } = seen({ spec: { maxAge: '1h' } });
    const takenAt = '2026-03-01T00:00:00Z';
    assert.equal(tooOldSince(schedule, { takenAt }, now), takenAt);
    const { creationTimestamp: _, ...metadata } = schedule.metadata;
    assert.equal(tooOldSince({ ...schedule, metadata }, undefined, now), undefined);
    assert.equal(tooOldSince(seen({}).schedule, { takenAt }, now), undefined);
  });
});

describe('the status of a schedule', () => {
  const told = (given: Given) => {
    const observation = seen(given);
    const { actions, ...decision } = decideSchedule(observation);
    const deeds = actions.map((action) => ({ action }));
    return scheduleStatus(observation, { actions, ...decision }, deeds);
  };

  test('names as under way what is neither over, nor leaving, nor given up', () => {
    const backups = {
      '2026-03-01T00:20:00Z': 'leaving',
      '2026-03-01T00:30:00Z': 'good',
      [due]: 'under way',
    } as const;
    assert.deepEqual(told({ backups, spec: { suspend: true } }).active, ['nightly-202603010050']);
    assert.equal(told({ backups, spec: { concurrencyPolicy: 'Replace' } }).active, undefined);
  });

  test('tells what has begun, where a backup and a retention begin in one step', () => {
    const { lastAt, lastName, retention } = told({ backups: { [due]: 'good' }, spec: { retention: { last: 1 } } });
    assert.deepEqual(
      [lastAt, lastName, retention?.after],
      ['2026-03-01T01:00:00Z', 'nightly-202603010100', 'nightly-202603010050'],
    );
  });

  test('believes no due time of a clock that was far ahead', () => {
    const backups = { '2031-01-01T00:00:00Z': 'good', [due]: 'good' } as const;
    assert.equal(told({ backups, spec: { suspend: true } }).lastAt, due);
  });
});
