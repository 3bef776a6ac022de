import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FleetRevisionEntry } from '../../../manifests/api/etcd-fleet-status.ts';
import { historyAfter } from '../../../reconcile/fleet/history.ts';
import type { Reading } from '../../../reconcile/fleet/reading.ts';
import { problemAbout, treeOf } from './objects.ts';

const at = (minute: number) => `2026-05-01T10:${String(minute).padStart(2, '0')}:00Z`;
const named = (letter: string) => `main@sha1:${letter.repeat(40)}`;
const read = (letter: string): Reading => ({ kind: 'tree', revision: named(letter), tree: treeOf([]) });
const applied = (letter: string) => ({ reading: read(letter), applied: true, problems: [] });
const entry = (letter: string, outcome: FleetRevisionEntry['outcome'], minute: number) => ({
  revision: named(letter),
  outcome,
  at: at(minute),
});

test('a commit, a reset to the one before, and the commit again are three entries', () => {
  let history = historyAfter(undefined, applied('a'), at(1));
  history = historyAfter(history, applied('b'), at(2));
  history = historyAfter(history, applied('a'), at(3));
  assert.deepEqual(history, [entry('a', 'Applied', 3), entry('b', 'Applied', 2), entry('a', 'Applied', 1)]);
});

for (const [title, outcome, expected] of [
  ['wrong documents', { reading: read('a'), applied: false, problems: [problemAbout('x.yaml')] }, 'Refused'],
  ['what did not get through', { reading: read('a'), applied: false, problems: [] }, 'Retrying'],
  [
    'no folder of that name',
    {
      applied: false,
      reading: { kind: 'failed', revision: named('a'), reason: 'PathNotFound', message: 'no', retryable: false },
    },
    'Unreadable',
  ],
] as const) {
  test(`a revision with ${title} is ${expected}, and what becomes of it later replaces that`, () => {
    const first = historyAfter([entry('0', 'Applied', 0)], outcome, at(1));
    assert.deepEqual(first, [entry('a', expected, 1), entry('0', 'Applied', 0)]);
    assert.equal(historyAfter(first, outcome, at(2)), first, 'the same again is no news');
    assert.deepEqual(historyAfter(first, applied('a'), at(3)), [entry('a', 'Applied', 3), entry('0', 'Applied', 0)]);
  });
}

test('no answer, a suspension or a later outage leaves the history as it is', () => {
  const before = [entry('a', 'Applied', 1)];
  const failed = { kind: 'failed', reason: 'Timeout', message: 'no answer', retryable: true } as const;
  for (const reading of [
    failed,
    { ...failed, revision: named('a') },
    { kind: 'skipped', because: 'suspended' },
    { kind: 'unchanged', revision: named('a') },
  ] as const) {
    assert.equal(historyAfter(before, { reading, applied: reading.kind === 'unchanged' }, at(9)), before);
  }
});

test('there are at most 10 entries, newest first, and never a revision twice in a row', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.boolean()), { maxLength: 40 }), (events) => {
      let history: readonly FleetRevisionEntry[] = [];
      for (const [minute, [letter, works]] of events.entries()) {
        history = historyAfter(history, { reading: read(letter), applied: works, problems: [] }, at(minute)) ?? [];
        assert.equal(history[0]?.revision, named(letter));
      }
      assert.ok(history.length <= 10);
      for (const [index, { revision }] of history.entries()) assert.notEqual(revision, history[index + 1]?.revision);
    }),
  );
});
