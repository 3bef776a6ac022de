import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cronPattern, longestCron, problemOfCron } from '../../../manifests/api/cron.ts';
import { problemOfTimeZone } from '../../../manifests/api/time-rules.ts';
import { type DueTimes, dueTimes } from '../../../reconcile/time/due.ts';
import { processorSeconds } from '../../support/processor-time.ts';

function times(schedule: string, zone = 'UTC'): DueTimes {
  const due = dueTimes(schedule, zone);
  assert.ok('next' in due, JSON.stringify(due));
  return due;
}

/** The first `count` times after one. */
function after(schedule: string, zone: string, from: string, count: number): readonly string[] {
  const due = times(schedule, zone);
  const found: string[] = [];
  let at = new Date(from);
  for (let index = 0; index < count; index++) {
    const next = due.next(at);
    assert.ok(next);
    found.push(next.toISOString().slice(0, 16));
    at = next;
  }
  return found;
}

test('a time of day is that of its time zone', () => {
  assert.deepEqual(after('30 2 * * *', 'Europe/Berlin', '2026-01-10T00:00:00Z', 2), [
    '2026-01-10T01:30',
    '2026-01-11T01:30',
  ]);
  assert.deepEqual(after('30 2 * * *', 'Asia/Kolkata', '2026-07-10T00:00:00Z', 1), ['2026-07-10T21:00']);
  assert.deepEqual(after('0 0 * * *', 'Pacific/Kiritimati', '2026-07-10T00:00:00Z', 1), ['2026-07-10T10:00']);
});

test('a time of day that does not exist is due at the first one that does, once', () => {
  // New York, 2027-03-14: 01:59 EST is followed by 03:00 EDT.
  assert.deepEqual(after('30 2 * * *', 'America/New_York', '2027-03-13T12:00:00Z', 2), [
    '2027-03-14T07:00',
    '2027-03-15T06:30',
  ]);
  assert.deepEqual(after('30 2,14 * * *', 'America/New_York', '2027-03-13T20:00:00Z', 2), [
    '2027-03-14T07:00',
    '2027-03-14T18:30',
  ]);
  // A day whose midnight does not exist: Santiago, 2026-09-06.
  assert.deepEqual(after('0 0 * * *', 'America/Santiago', '2026-09-05T12:00:00Z', 2), [
    '2026-09-06T04:00',
    '2026-09-07T03:00',
  ]);
});

test('a time of day that exists twice is due the first time only', () => {
  // New York, 2026-11-01: 01:59 EDT is followed by 01:00 EST.
  assert.deepEqual(after('30 1 * * *', 'America/New_York', '2026-10-31T12:00:00Z', 2), [
    '2026-11-01T05:30',
    '2026-11-02T06:30',
  ]);
});

test('what is due every hour is due every hour where clocks change', () => {
  const back = after('@hourly', 'America/New_York', '2026-11-01T04:30:00Z', 4);
  assert.deepEqual(back, ['2026-11-01T05:00', '2026-11-01T06:00', '2026-11-01T07:00', '2026-11-01T08:00']);
  const ahead = after('0 * * * *', 'America/New_York', '2027-03-14T05:30:00Z', 3);
  assert.deepEqual(ahead, ['2027-03-14T06:00', '2027-03-14T07:00', '2027-03-14T08:00']);
});

test('a day that a month lacks is left out, and the 29th of February waits for a leap year', () => {
  assert.deepEqual(after('0 0 31 * *', 'UTC', '2026-03-31T12:00:00Z', 2), ['2026-05-31T00:00', '2026-07-31T00:00']);
  assert.deepEqual(after('0 0 29 2 *', 'UTC', '2097-01-01T00:00:00Z', 1), ['2104-02-29T00:00']);
});

test('a day and a weekday together are due on either', () => {
  assert.deepEqual(after('0 0 13 * FRI', 'UTC', '2026-03-01T05:30:00Z', 3), [
    '2026-03-06T00:00',
    '2026-03-13T00:00',
    '2026-03-20T00:00',
  ]);
});

test('short names are what they are in a CronJob', () => {
  const long: Readonly<Record<string, string>> = {
    '@hourly': '0 * * * *',
    '@daily': '0 0 * * *',
    '@midnight': '0 0 * * *',
    '@weekly': '0 0 * * 0',
    '@monthly': '0 0 1 * *',
    '@yearly': '0 0 1 1 *',
    '@annually': '0 0 1 1 *',
  };
  for (const [short, written] of Object.entries(long))
    assert.deepEqual(
      after(short, 'Europe/Berlin', '2026-03-20T10:10:10Z', 3),
      after(written, 'Europe/Berlin', '2026-03-20T10:10:10Z', 3),
    );
});

test('what was missed is the last one of a time, and whether there were others', () => {
  const due = times('0 * * * *');
  const missed = (from: string, to: string) => {
    const found = due.missed(new Date(from), new Date(to));
    return found && [found.at.toISOString().slice(0, 16), found.others];
  };
  assert.equal(missed('2026-01-01T10:00:00Z', '2026-01-01T10:59:59Z'), undefined);
  assert.deepEqual(missed('2026-01-01T10:00:00Z', '2026-01-01T11:00:00Z'), ['2026-01-01T11:00', false]);
  assert.deepEqual(missed('2026-01-01T10:00:00Z', '2026-01-01T14:20:00Z'), ['2026-01-01T14:00', true]);
  assert.deepEqual(missed('1926-01-01T10:00:00Z', '2026-01-01T14:20:00Z'), ['2026-01-01T14:00', true]);
  assert.equal(missed('2026-01-01T15:00:00Z', '2026-01-01T14:20:00Z'), undefined, 'the clock went back');
});

test('each expression that is wrong is told with its field, and what was probably meant', () => {
  const table: readonly (readonly [string, RegExp])[] = [
    ['', /has 1 field, not 5.*minute hour day month weekday/],
    ['* * * *', /has 4 fields, not 5/],
    ['0 0 0 * * *', /has 6 fields, not 5/],
    ['60 * * * *', /minute "60" is out of range: it goes from 0 to 59/],
    ['0 24 * * *', /hour "24" is out of range/],
    ['0 0 0 * *', /day "0" is out of range: it goes from 1 to 31/],
    ['0 0 * 13 *', /month "13" is out of range/],
    ['0 0 * JAM *', /month "JAM" can't be read.*did you mean JAN\?/],
    ['0 0 * * MOM', /weekday "MOM" can't be read.*did you mean MON\?/],
    ['0 0 * * 8', /weekday "8" is out of range/],
    ['*/0 * * * *', /minute "\*\/0" has no step from 1 to 59/],
    ['5/10 * * * *', /minute "5\/10": a step needs a range before it, like 5-59\/10/],
    ['0 22-2 * * *', /hour "22-2" goes backward: write two ranges, like 22-23,0-2/],
    ['0 1-2-3 * * *', /more than one "-"/],
    ['0, * * * *', /minute "" lacks a value/],
    ['0 0 L * *', /day "L" can't be read/],
    ['0 0 30 2 *', /never due: month 2 has no day 30/],
    ['0 0 31 2,4-6/2,9,NOV *', /never due/],
    ['@dayly', /did you mean @daily\?/],
    ['@every 6h', /an interval has no time of day/],
    ['TZ=UTC 0 0 * * *', /write it into timeZone/],
    ['0 0 * * *\n', /weekday "\*\\n" can't be read/],
    ['1'.repeat(longestCron + 1), /at most 256/],
  ];
  for (const [text, said] of table) assert.match(problemOfCron(text) ?? 'it is taken', said, text);
});

test('each time zone that is wrong is told, with what was probably meant', () => {
  assert.equal(problemOfTimeZone('Europe/Berlin'), undefined);
  assert.equal(problemOfTimeZone('Etc/GMT+5'), undefined);
  assert.match(problemOfTimeZone('Europe/Berln') ?? '', /did you mean Europe\/Berlin\?/);
  assert.match(problemOfTimeZone('+02:00') ?? '', /is no time zone/);
  assert.match(problemOfTimeZone('Local') ?? '', /not known/);
  assert.match(problemOfTimeZone('../../etc/passwd') ?? '', /is no time zone/);
});

test('the pattern for the API server takes what is taken here, but for ranges and days', () => {
  const pattern = new RegExp(cronPattern);
  const piece = fc.constantFrom(
    '*',
    '?',
    '0',
    '7',
    '9',
    '10',
    '29',
    '31',
    '59',
    '60',
    'MON',
    'sun',
    'Jan',
    'XXX',
    '*/5',
    '1-5',
    '5-1/2',
    '1/2',
    '1,2',
    '',
    'L',
  );
  fc.assert(
    fc.property(fc.array(piece, { minLength: 4, maxLength: 6 }), (parts) => {
      const text = parts.join(' ');
      const problem = problemOfCron(text);
      if (/goes backward|never due/.test(problem ?? '')) return;
      assert.equal(pattern.test(text), problem === undefined, `${text}: ${problem}`);
    }),
    { numRuns: 20_000 },
  );
});

/** Expressions that are taken, odd ones included. */
const expression = fc
  .tuple(
    fc.constantFrom('*', '0', '59', '*/7', '1-58/3', '0,1,2,30'),
    fc.constantFrom('*', '0', '2', '1-3', '23', '*/5', '0,2,14'),
    fc.constantFrom('*', '1', '29', '31', '*/2', '13,30'),
    fc.constantFrom('*', '2', 'JAN-mar', '4,6,9,11', '*/3', '12'),
    fc.constantFrom('*', '0', '7', 'FRI-SUN', 'MON-FRI', '6'),
  )
  .map((parts) => parts.join(' '))
  .filter((text) => problemOfCron(text) === undefined);
const zone = fc.constantFrom(
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Santiago',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
);
const moment = fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2032, 0) }).map((ms) => new Date(ms));

test('times go forward, are whole minutes, and none is left out on the way back', () => {
  fc.assert(
    fc.property(expression, zone, moment, (text, where, from) => {
      const due = times(text, where);
      const next = due.next(from);
      assert.ok(next && next > from, `${text}: ${next?.toISOString()}`);
      assert.equal(next.getTime() % 60_000, 0);
      assert.equal(due.missed(from, new Date(next.getTime() - 1)), undefined);
      assert.deepEqual(due.missed(from, next), { at: next, others: false });
      const second = due.next(next);
      assert.ok(second && second > next);
      assert.deepEqual(due.missed(from, second), { at: second, others: true });
    }),
    { numRuns: 2_000 },
  );
});

test('no text takes long, and none throws', () => {
  const hostile = fc.oneof(
    fc.string({ maxLength: 400 }),
    fc
      .array(fc.constantFrom('*', '/', '-', ',', ' ', '0', '9', '@', '?', 'L', 'W', '#', 'MON'), { maxLength: 300 })
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(hostile, (text) => {
      const before = processorSeconds();
      const due = dueTimes(text, 'Europe/Berlin');
      if ('next' in due) due.next(new Date(0));
      assert.ok(processorSeconds() - before < 5, text);
    }),
    { numRuns: 3_000 },
  );
  const all = Array.from({ length: 60 }, (_, minute) => minute).join(',');
  const before = processorSeconds();
  assert.ok(times(`${all} 23 29 2 *`).next(new Date('2097-01-01')));
  assert.ok(processorSeconds() - before < 5);
});
