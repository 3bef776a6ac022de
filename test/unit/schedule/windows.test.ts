import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Windows } from '../../../manifests/api/windows.ts';
import { openingOf } from '../../../reconcile/time/due.ts';

type Window = Windows[number];

function isOpen(window: Window, time: string): boolean {
  return openingOf([window], new Date(time)).kind === 'open';
}

test('without windows a reboot may always begin, and with an empty list never', () => {
  assert.equal(openingOf(undefined, new Date()).kind, 'open');
  assert.deepEqual(openingOf([], new Date()), { kind: 'shut' });
});

test('a window stays open over midnight, and shuts after its duration', () => {
  const window = { start: '0 22 * * MON', duration: '8h' };
  // 2026-11-23 is a Monday.
  for (const [time, open] of [
    ['2026-11-23T21:59:59Z', false],
    ['2026-11-23T22:00:00Z', true],
    ['2026-11-24T05:59:59Z', true],
    ['2026-11-24T06:00:00Z', false],
    ['2026-11-24T22:30:00Z', false],
  ] as const)
    assert.equal(isOpen(window, time), open, time);
});

test('a window lasts as long on the night on which clocks go forward and back', () => {
  const window = { start: '0 1 * * *', duration: '4h', timeZone: 'Europe/Berlin' };
  // Forward: 01:00 CET is 00:00Z. It ends at 04:00Z, when clocks show 06:00.
  assert.deepEqual(
    ['2026-03-28T23:59:00Z', '2026-03-29T00:00:00Z', '2026-03-29T03:59:00Z', '2026-03-29T04:00:00Z'].map((time) =>
      isOpen(window, time),
    ),
    [false, true, true, false],
  );
  // Back: 01:00 CEST is 23:00Z of the day before. It ends at 03:00Z, when clocks show 04:00.
  assert.deepEqual(
    ['2026-10-24T22:59:00Z', '2026-10-24T23:00:00Z', '2026-10-25T02:59:00Z', '2026-10-25T03:00:00Z'].map((time) =>
      isOpen(window, time),
    ),
    [false, true, true, false],
  );
});

test('a time of day that clocks skip opens its window at the first one that they show', () => {
  const window = { start: '30 2 * * *', duration: '1h', timeZone: 'Europe/Berlin' };
  // 02:30 does not exist on 2026-03-29: clocks go from 02:00 to 03:00, at 01:00Z.
  const opened = [0, 15, 30, 45, 60, 75, 90, 105].filter((minutes) =>
    isOpen(window, new Date(Date.parse('2026-03-29T00:30:00Z') + minutes * 60_000).toISOString()),
  );
  assert.equal(opened.length, 4, `open for an hour: ${opened.join(', ')}`);
});

test('a time of day that clocks show twice opens its window once', () => {
  const window = { start: '30 2 * * *', duration: '30m', timeZone: 'Europe/Berlin' };
  // 02:30 is 00:30Z and 01:30Z.
  assert.deepEqual(
    ['2026-10-25T00:30:00Z', '2026-10-25T01:00:00Z', '2026-10-25T01:30:00Z'].map((time) => isOpen(window, time)),
    [true, false, false],
  );
});

test('the next opening of several windows is told', () => {
  const windows = [
    { start: '0 22 * * *', duration: '1h' },
    { start: '0 20 * * *', duration: '1h', timeZone: 'America/New_York' },
  ];
  const found = openingOf(windows, new Date('2026-11-23T23:30:00Z'));
  assert.deepEqual(found, { kind: 'shut', opensAt: new Date('2026-11-24T01:00:00Z') });
});

test('one window that can not be read shuts all, and is named', () => {
  const windows = [
    { start: '* * * * *', duration: '1h' },
    { start: '0 0 31 2 *', duration: '1h' },
  ];
  const found = openingOf(windows, new Date());
  assert.ok(found.kind === 'unreadable');
  assert.match(found.problem, /^windows\[1]: schedule/);
});

test('a range that goes backward is a problem in words, never an exception', () => {
  for (const weekday of ['FRI-0', '5-0', '5-00', 'MON-00'])
    assert.equal(openingOf([{ start: `0 0 * * ${weekday}`, duration: '1h' }], new Date()).kind, 'unreadable', weekday);
  assert.notEqual(openingOf([{ start: '0 0 * * FRI-SUN', duration: '1h' }], new Date()).kind, 'unreadable');
});
