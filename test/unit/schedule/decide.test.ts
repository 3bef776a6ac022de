import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import { decideSchedule, isAtRest, type ScheduleAction } from '../../../reconcile/schedule/decide.ts';
import { type Given, now, seen } from './seen.ts';

/** Each guard of what is begun, given up, pruned and forgotten by itself. */

/** What it does, each with the times of the backups that it does that to. */
function done(given: Given): readonly string[] {
  return decideSchedule(seen(given)).actions.map(inWords);
}

function inWords(action: ScheduleAction): string {
  switch (action.kind) {
    case 'start':
      return `start ${action.at.toISOString().slice(11, 16)}`;
    case 'prune':
      return `prune after ${timeIn(action.after)}`;
    case 'give-up':
    case 'forget':
      return `${action.kind} ${action.backups.map(timeIn).join(', ')}`;
  }
}

function timeIn({ metadata }: EtcdBackup): string {
  return metadata.name.slice(-4);
}

describe('a schedule that is looked at', () => {
  test('begins nothing while it is suspended, whatever is due, and looks after what is there', () => {
    const backups = { '2026-03-01T00:30:00Z': 'failed', '2026-03-01T00:20:00Z': 'failed' } as const;
    const history = { failed: 1 };
    assert.deepEqual(done({ backups, spec: { history } }), ['start 01:00', 'forget 0020']);
    assert.deepEqual(done({ backups, spec: { history, suspend: true } }), ['forget 0020']);
  });

  test('gives up what is under way once: what is leaving already is not given up again', () => {
    const spec = { concurrencyPolicy: 'Replace' } as const;
    const backups = { '2026-03-01T00:50:00Z': 'under way', '2026-03-01T00:40:00Z': 'leaving' } as const;
    assert.deepEqual(done({ spec, backups }), ['give-up 0050', 'start 01:00']);
    assert.deepEqual(done({ spec, backups: { '2026-03-01T00:40:00Z': 'leaving' } }), ['start 01:00']);
  });

  test('begins nothing where all times that it knows of lie in the far future', () => {
    assert.deepEqual(done({ creationTimestamp: '2031-01-01T00:00:00Z' }), []);
  });

  test('counts no backup that is leaving, nor one of a clock that was far ahead, as history', () => {
    const spec = { history: { good: 1 }, suspend: true };
    const kept = { '2026-03-01T00:50:00Z': 'good' } as const;
    assert.deepEqual(done({ spec, backups: { '2026-03-01T01:00:00Z': 'good, leaving', ...kept } }), []);
    assert.deepEqual(done({ spec, backups: { '2031-01-01T00:00:00Z': 'good', ...kept } }), ['forget 0000']);
  });

  test('prunes after the newest good backup that stays', () => {
    const spec = { retention: { last: 1 }, suspend: true };
    const leaving = { '2026-03-01T01:00:00Z': 'good, leaving' } as const;
    assert.deepEqual(done({ spec, backups: leaving }), []);
    assert.deepEqual(done({ spec, backups: { ...leaving, '2026-03-01T00:50:00Z': 'good' } }), ['prune after 0050']);
  });

  test('prunes after none that the last retention has seen, also where a newer one is gone', () => {
    const spec = { retention: { last: 1 }, suspend: true };
    const backups = { '2026-03-01T00:50:00Z': 'good' } as const;
    const seenAt = (at: string) => ({ retention: { after: 'nightly-202603010100', at, finishedAt: at } });
    assert.deepEqual(done({ spec, backups, status: seenAt('2026-03-01T01:05:01Z') }), []);
    assert.deepEqual(done({ spec, backups, status: seenAt('2026-03-01T01:04:59Z') }), ['prune after 0050']);
    assert.deepEqual(done({ spec, backups, status: seenAt('2031-01-01T00:00:00Z') }), ['prune after 0050']);
  });

  test('is at rest only while none of its backups is open', () => {
    const nextAt = '2026-03-01T01:10:00Z';
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'Scheduled',
      message: '',
      lastTransitionTime: nextAt,
    } as const;
    const { schedule } = seen({ status: { nextAt, conditions: [ready] } });
    assert.deepEqual(
      [0, 1].map((open) => isAtRest(schedule, open, now)),
      [true, false],
    );
  });
});
