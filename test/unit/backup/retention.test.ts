import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Keep, type KnownBackup, periods, retain } from '../../../reconcile/backup/agent/retention.ts';

const later = new Date('2030-01-01T00:00:00Z');

/** `2026-01-02T03:04Z`, with `!` where it was verified. */
function backups(...times: readonly string[]): readonly KnownBackup[] {
  return backupsOf('a', ...times);
}

function backupsOf(clusterId: string, ...times: readonly string[]): readonly KnownBackup[] {
  return times.map((time) => ({
    name: time.replace('!', ''),
    takenAt: new Date(time.replace('!', '')),
    revision: Date.parse(time.replace('!', '')) / 60_000,
    clusterId,
    verified: time.endsWith('!'),
  }));
}

function kept(all: readonly KnownBackup[], keep: Keep, timeZone = 'UTC', now = later): readonly string[] {
  return retain({ backups: all, keep, timeZone, now }).kept.map(({ name }) => name);
}

test('the newest are kept, and the newest verified one whatever its age', () => {
  const all = backups(
    '2026-01-01T00:00Z!',
    '2026-01-02T00:00Z!',
    '2026-01-03T00:00Z',
    '2026-01-04T00:00Z',
    '2026-01-05T00:00Z',
  );
  assert.deepEqual(kept(all, { last: 2 }), ['2026-01-05T00:00Z', '2026-01-04T00:00Z', '2026-01-02T00:00Z']);
});

test('nothing asked for keeps the newest one, and the newest verified one', () => {
  const all = backups('2026-01-01T00:00Z!', '2026-01-02T00:00Z!', '2026-01-03T00:00Z');
  assert.deepEqual(kept(all, {}), ['2026-01-03T00:00Z', '2026-01-02T00:00Z']);
  assert.deepEqual(retain({ backups: [], keep: {}, timeZone: 'UTC', now: later }), {
    kept: [],
    earlierLives: [],
    removed: [],
  });
});

test('a day keeps its newest verified backup, or else its newest', () => {
  const all = backups(
    '2026-01-01T01:00Z',
    '2026-01-01T13:00Z',
    '2026-01-02T01:00Z!',
    '2026-01-02T13:00Z',
    '2026-01-03T01:00Z!',
  );
  assert.deepEqual(kept(all, { daily: 3 }), ['2026-01-03T01:00Z', '2026-01-02T01:00Z', '2026-01-01T13:00Z']);
});

test('days without a backup are not counted', () => {
  const all = backups('2025-06-01T01:00Z!', '2026-01-02T01:00Z!', '2026-01-09T01:00Z!');
  assert.deepEqual(kept(all, { daily: 2 }), ['2026-01-09T01:00Z', '2026-01-02T01:00Z']);
});

test('days, weeks and months begin by the time zone, and weeks on Monday', () => {
  // 23:30Z and 00:30Z are one day in Berlin, and two in UTC.
  const night = backups('2026-01-10T23:30Z!', '2026-01-11T00:30Z!');
  assert.deepEqual(kept(night, { daily: 2 }, 'UTC').length, 2);
  assert.deepEqual(kept(night, { daily: 2 }, 'Europe/Berlin'), ['2026-01-11T00:30Z']);
  const week = backups('2026-01-04T12:00Z!', '2026-01-05T12:00Z!', '2026-01-11T12:00Z!', '2026-01-12T12:00Z!');
  assert.deepEqual(kept(week, { weekly: 3 }), ['2026-01-12T12:00Z', '2026-01-11T12:00Z', '2026-01-04T12:00Z']);
  const month = backups('2025-12-31T23:30Z!', '2026-01-01T00:10Z!');
  assert.equal(kept(month, { monthly: 2 }).length, 2);
  assert.deepEqual(kept(month, { monthly: 2 }, 'Europe/Berlin'), ['2026-01-01T00:10Z']);
});

test('an hour that exists twice is two hours', () => {
  const all = backups('2026-11-01T05:30Z!', '2026-11-01T06:30Z!');
  assert.equal(kept(all, { hourly: 2 }, 'America/New_York').length, 2);
});

test('a backup of a wrong clock neither goes nor makes others go', () => {
  const all = backups('2026-01-01T00:00Z!', '2026-01-02T00:00Z!', '2029-12-31T00:00Z!');
  const now = new Date('2026-01-02T12:00Z');
  assert.deepEqual(kept(all, { last: 1 }, 'UTC', now), ['2029-12-31T00:00Z', '2026-01-02T00:00Z']);
});

test('a cluster that is made anew pushes out no backup that its counts keep of the lost one', () => {
  const lost = backupsOf('old', '2026-01-01T00:00Z!', '2026-01-02T00:00Z!', '2026-01-03T00:00Z');
  const anew = backupsOf('new', '2026-01-04T00:00Z!', '2026-01-05T00:00Z!', '2026-01-06T00:00Z!');
  const all = [...lost, ...anew];
  const {
    kept: stay,
    earlierLives,
    removed,
  } = retain({ backups: all, keep: { last: 1 }, timeZone: 'UTC', now: later });
  const namesOf = (some: readonly KnownBackup[]) => some.map(({ name }) => name);
  assert.deepEqual(
    namesOf(earlierLives),
    ['2026-01-03T00:00Z', '2026-01-02T00:00Z'],
    'the newest, and the newest good',
  );
  assert.deepEqual(namesOf(stay), ['2026-01-06T00:00Z', ...namesOf(earlierLives)]);
  assert.deepEqual(namesOf(removed), ['2026-01-01T00:00Z', '2026-01-04T00:00Z', '2026-01-05T00:00Z']);
  assert.deepEqual(kept(all, { daily: 2 }).length, 4, 'days are counted for each life by itself');
});

const start = Date.UTC(2026, 2, 20);
const arbitraryBackups = fc
  .uniqueArray(
    fc.record({
      at: fc.integer({ min: 0, max: 90 * 24 * 60 }),
      clusterId: fc.constantFrom('a', 'a', 'b', 'c'),
      verified: fc.boolean(),
    }),
    { selector: ({ at }) => at, maxLength: 60 },
  )
  .map((all) =>
    all.map(
      ({ at, ...one }): KnownBackup => ({
        ...{ ...one, name: `b-${at}`, revision: at },
        takenAt: new Date(start + at * 60_000),
      }),
    ),
  );
const count = fc.option(fc.nat({ max: 8 }), { nil: 0 });
const arbitraryKeep = fc.record({ last: count, hourly: count, daily: count, weekly: count, monthly: count });
const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu');
const clock = fc.integer({ min: -24 * 60, max: 120 * 24 * 60 }).map((minutes) => new Date(start + minutes * 60_000));

function names(all: readonly KnownBackup[]): ReadonlySet<string> {
  return new Set(all.map(({ name }) => name));
}

function newest(all: readonly KnownBackup[]): KnownBackup | undefined {
  return all.toSorted((a, b) => b.takenAt.getTime() - a.takenAt.getTime())[0];
}

test('after a rollback the backups of both lives stay, however long the new one lasts', () => {
  const before = backupsOf('a', '2026-01-01T00:00Z!', '2026-01-02T00:00Z!', '2026-01-03T00:00Z!', '2026-01-04T00:00Z');
  const keep = { last: 2, daily: 3 };
  const left = before.filter(({ name }) => kept(before, keep).includes(name));
  // It went back to the backup of the 2nd.
  const origin = '2026-01-02T00:00Z';
  assert.ok(left.some(({ name }) => name === origin));
  const days = Array.from({ length: 40 }, (_, day) => new Date(Date.UTC(2026, 0, 5 + day)).toISOString());
  const since = days.flatMap((day, index) => backupsOf('b', index % 7 === 0 ? `${day}!` : day));
  let present: readonly KnownBackup[] = left;
  for (const one of since) {
    const { kept: stay, earlierLives } = retain({ backups: [...present, one], keep, timeZone: 'UTC', now: later });
    assert.deepEqual(
      earlierLives.map(({ name }) => name).toSorted(),
      left.map(({ name }) => name).toSorted(),
      `after ${one.name}`,
    );
    const own = stay.filter(({ clusterId }) => clusterId === 'b');
    const proven = since.filter(({ name, verified }) => verified && name <= one.name).at(-1);
    assert.ok(
      own.some(({ name }) => name === proven?.name),
      `the newest verified one of the present life stays after ${one.name}`,
    );
    present = stay;
  }
});

test('every backup is either kept or removed, whatever the order of the list', () => {
  fc.assert(
    fc.property(arbitraryBackups, arbitraryKeep, zone, clock, (all, keep, timeZone, now) => {
      const retained = retain({ backups: all, keep, timeZone, now });
      const { kept, removed } = retained;
      assert.deepEqual(names([...kept, ...removed]), names(all));
      assert.equal(kept.length + removed.length, all.length);
      assert.deepEqual(retain({ backups: all.toReversed(), keep, timeZone, now }), retained);
    }),
  );
});

test('what goes of one life does not depend on what there is of another', () => {
  fc.assert(
    fc.property(arbitraryBackups, arbitraryKeep, zone, clock, (all, keep, timeZone, now) => {
      const whole = retain({ backups: all, keep, timeZone, now }).removed;
      for (const [clusterId, life] of Map.groupBy(all, (one) => one.clusterId)) {
        const alone = retain({ backups: life, keep, timeZone, now }).removed;
        assert.deepEqual(
          whole.filter((one) => one.clusterId === clusterId),
          alone,
        );
      }
    }),
  );
});

test('the newest verified backup of each life is never removed', () => {
  fc.assert(
    fc.property(arbitraryBackups, arbitraryKeep, zone, clock, (all, keep, timeZone, now) => {
      const { removed } = retain({ backups: all, keep, timeZone, now });
      for (const life of Map.groupBy(all, ({ clusterId }) => clusterId).values()) {
        const verified = life.filter(({ verified }) => verified);
        for (const best of [newest(verified), newest(verified.filter(({ takenAt }) => takenAt <= now))])
          assert.ok(best === undefined || !removed.includes(best));
      }
    }),
  );
});

test('nothing is removed that is younger than the newest that is kept', () => {
  fc.assert(
    fc.property(arbitraryBackups, arbitraryKeep, zone, clock, (all, keep, timeZone, now) => {
      const { kept, removed } = retain({ backups: all, keep, timeZone, now });
      const first = newest(kept);
      assert.ok(removed.every(({ takenAt }) => first !== undefined && takenAt < first.takenAt));
    }),
  );
});

test('a second time removes nothing more', () => {
  fc.assert(
    fc.property(arbitraryBackups, arbitraryKeep, zone, clock, (all, keep, timeZone, now) => {
      const { kept } = retain({ backups: all, keep, timeZone, now });
      assert.deepEqual(retain({ backups: kept, keep, timeZone, now }).removed, []);
    }),
  );
});

test('a clock that goes back removes nothing that would have stayed', () => {
  fc.assert(
    fc.property(arbitraryBackups, arbitraryKeep, zone, clock, clock, (all, keep, timeZone, one, other) => {
      const [before, now] = one < other ? [one, other] : [other, one];
      const removed = names(retain({ backups: all, keep, timeZone, now }).removed);
      for (const { name } of retain({ backups: all, keep, timeZone, now: before }).removed)
        assert.ok(removed.has(name));
    }),
  );
});

test('a larger count never removes more', () => {
  fc.assert(
    fc.property(
      arbitraryBackups,
      arbitraryKeep,
      zone,
      clock,
      fc.constantFrom('last', ...periods),
      (all, keep, timeZone, now, which) => {
        const removed = names(retain({ backups: all, keep, timeZone, now }).removed);
        const more = { ...keep, [which]: keep[which] + 1 };
        for (const { name } of retain({ backups: all, keep: more, timeZone, now }).removed)
          assert.ok(removed.has(name));
      },
    ),
  );
});

test('over months of daily backups, as many stay as were asked for', () => {
  let all: readonly KnownBackup[] = [];
  for (let day = 0; day < 400; day++) {
    const takenAt = new Date(start + day * 24 * 3600_000);
    all = [...all, { name: `d-${day}`, takenAt, revision: day, clusterId: 'a', verified: day % 5 !== 0 }];
    all = retain({
      backups: all,
      keep: { last: 3, daily: 7, weekly: 4, monthly: 6 },
      timeZone: 'Europe/Berlin',
      now: takenAt,
    }).kept;
  }
  assert.ok(all.length >= 14 && all.length <= 18, String(all.length));
  assert.ok(
    all.some(({ takenAt }) => takenAt.getTime() < start + 260 * 24 * 3600_000),
    'a month of half a year ago',
  );
});

const at = (time: string) => new Date(`2026-11-${time}Z`);
const of = (name: string, takenAt: string, revision: number, askedAt?: string): KnownBackup => ({
  ...{ name, takenAt: at(takenAt), revision, clusterId: 'a', verified: true },
  ...(askedAt !== undefined && { askedAt: at(askedAt) }),
});
const removedOf = (all: readonly KnownBackup[], keep: Keep) =>
  retain({ backups: all, keep, timeZone: 'UTC', now: at('25T12:05:00') }).removed.map(({ name }) => name);

test('the backup of a node whose clock is slow is as new as its revision', () => {
  const earlier = [of('b07', '25T07:00:00', 700), of('b08', '25T08:00:00', 800), of('b09', '25T09:00:00', 900)];
  assert.ok(!removedOf([...earlier, of('b10', '25T07:59:00', 1000)], { last: 2 }).includes('b10'));
  const asked = earlier.map((one) => ({ ...one, askedAt: one.takenAt }));
  const slow = of('b10', '25T07:59:00', 1000, '25T10:00:00');
  assert.deepEqual(removedOf([...asked, slow], { last: 2 }), ['b07', 'b08']);
});

test('the backup of a node whose clock was fast pushes out no newer one when its time has come', () => {
  const asked = [of('b09', '25T09:00:00', 24_000, '25T09:00:00'), of('b10', '25T10:00:05', 25_000, '25T10:00:00')];
  const misdated = of('misdated', '25T10:00:30', 1000, '24T10:00:00');
  assert.deepEqual(removedOf([misdated, ...asked], { last: 1 }), ['misdated', 'b09']);
});

test('a fall of the revision is another life, and stays one', () => {
  let all = [of('before', '25T09:00:00', 4990, '25T09:00:00')];
  for (const [index, hour] of ['10', '11', '12'].entries()) {
    all = [...all, of(`after-${hour}`, `25T${hour}:00:00`, 4001 + index, `25T${hour}:00:00`)];
    const { kept: stay, earlierLives } = retain({ backups: all, keep: { last: 1 }, timeZone: 'UTC', now: later });
    assert.deepEqual(
      earlierLives.map(({ name }) => name),
      ['before'],
    );
    all = [...stay];
  }
  assert.deepEqual(
    all.map(({ name }) => name),
    ['after-12', 'after-10', 'before'],
    'the first one shows the fall',
  );
});

test('the highest revision of each life stays, whatever the clocks say', () => {
  const wild = fc.array(
    fc.record({
      life: fc.constantFrom('a', 'b'),
      revision: fc.nat({ max: 50 }),
      takenAt: clock,
      askedAt: fc.option(clock, { nil: undefined }),
      verified: fc.boolean(),
    }),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(wild, arbitraryKeep, zone, clock, (some, keep, timeZone, now) => {
      const all = some.map(
        ({ life, askedAt, ...one }, index): KnownBackup => ({
          ...{ ...one, name: `b-${index}`, clusterId: life },
          ...(askedAt && { askedAt }),
        }),
      );
      const { kept: stay } = retain({ backups: all, keep, timeZone, now });
      for (const [clusterId, life] of Map.groupBy(all, (one) => one.clusterId)) {
        const highest = Math.max(...life.map(({ revision }) => revision));
        assert.ok(stay.some((one) => one.clusterId === clusterId && one.revision === highest));
      }
      assert.deepEqual(retain({ backups: stay, keep, timeZone, now }).removed, [], 'nor by a second look');
    }),
    { numRuns: 1000 },
  );
});

test('of two that were asked for in the same second the one with the higher revision is newer', () => {
  const [first, second] = backups('2026-01-01T00:00Z', '2026-01-01T00:00Z');
  assert.ok(first && second);
  const all = [
    { ...first, name: 'a', revision: 2 },
    { ...second, name: 'b', revision: 1 },
  ];
  const { kept, removed, earlierLives } = retain({ backups: all, keep: { last: 1 }, timeZone: 'UTC', now: later });
  assert.deepEqual(
    [kept, removed, earlierLives].map((some) => some.map(({ name }) => name)),
    [['a'], ['b'], []],
  );
});

test('a backup of a clock that is ahead is told as one of the life that it is of', () => {
  const now = new Date('2026-01-03T00:00Z');
  const ahead = backups('2027-01-01T00:00Z', '2027-01-02T00:00Z');
  const lives = (all: readonly KnownBackup[]) =>
    retain({ backups: all, keep: {}, timeZone: 'UTC', now }).earlierLives.map(({ name }) => name);
  assert.deepEqual(lives([...backups('2026-01-02T00:00Z'), ...ahead]), []);
  assert.deepEqual(lives(ahead), []);
  assert.deepEqual(lives([...backups('2026-01-02T00:00Z'), ...backupsOf('b', '2027-01-01T00:00Z')]), [
    '2027-01-01T00:00Z',
  ]);
});

test('the calendar of a period is looked up only where that is kept', (t) => {
  const { mock } = t.mock.method(Intl.DateTimeFormat.prototype, 'formatToParts');
  const all = backups('2026-01-01T00:00Z', '2026-01-02T00:00Z');
  kept(all, { last: 1 });
  assert.equal(mock.callCount(), 0, 'of many thousands it takes seconds');
  kept(all, { daily: 1 });
  assert.equal(mock.callCount(), 2);
});
