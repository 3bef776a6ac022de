/**
 * Which backups a schedule keeps. Pure. It never looks at how long ago one was taken, only at which is newer: a clock
 * that goes back makes it keep more, never less.
 */

export const periods = ['hourly', 'daily', 'weekly', 'monthly'] as const;
type Period = (typeof periods)[number];

/** How many of each; absent: none. */
export type Keep = Readonly<Partial<Record<'last' | Period, number>>>;

export interface KnownBackup {
  /** Unlike all others. */
  readonly name: string;
  readonly takenAt: Date;
  /** The life of the cluster that it holds: one that is made anew under the same name has another. */
  readonly clusterId: string;
  /** It was restored and compared. */
  readonly verified: boolean;
}

export interface RetentionInput<T extends KnownBackup> {
  readonly backups: readonly T[];
  readonly keep: Keep;
  /** IANA. Days, weeks and months begin by it; weeks on Monday. */
  readonly timeZone: string;
  readonly now: Date;
}

export interface Retained<T extends KnownBackup> {
  /** Newest first. */
  readonly kept: readonly T[];
  /** Of those: what holds a cluster with another ID than the newest one's. */
  readonly earlierLives: readonly T[];
  /** Oldest first: the order in which they go. */
  readonly removed: readonly T[];
}

/**
 * Of each life of the cluster are kept: the newest `last`; of each of the newest n hours, days, weeks and months that
 * have one, the newest verified one, or else the newest; the newest one, which may be about to be verified; and the
 * newest verified one, always. So a cluster that was lost and made anew never pushes out the last backup of what was
 * lost: of an earlier life, only a person deletes that.
 *
 * A backup with a time in the future counts for nothing and stays until that time: else a wrong clock would make
 * it the newest for years, and all that came after it would go.
 */
export function retain<T extends KnownBackup>({ backups, keep, timeZone, now }: RetentionInput<T>): Retained<T> {
  const newestFirst = backups.toSorted(
    (a, b) => b.takenAt.getTime() - a.takenAt.getTime() || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  );
  const present = newestFirst.filter(({ takenAt }) => takenAt <= now);
  const kept = new Set<T>(newestFirst.filter(({ takenAt }) => takenAt > now));
  const localTime = localTimeIn(timeZone);
  for (const life of Map.groupBy(present, ({ clusterId }) => clusterId).values())
    for (const one of keptOf(life, keep, localTime)) kept.add(one);
  const current = (present[0] ?? newestFirst[0])?.clusterId;
  const all = newestFirst.filter((one) => kept.has(one));
  return {
    kept: all,
    earlierLives: all.filter(({ clusterId }) => clusterId !== current),
    removed: newestFirst.filter((one) => !kept.has(one)).toReversed(),
  };
}

/** @param life newest first */
function* keptOf<T extends KnownBackup>(
  life: readonly T[],
  keep: Keep,
  localTime: (time: Date) => LocalTime,
): Generator<T> {
  yield* life.slice(0, Math.max(1, keep.last ?? 0));
  const newestVerified = life.find(({ verified }) => verified);
  if (newestVerified !== undefined) yield newestVerified;
  for (const period of periods) {
    const count = keep[period] ?? 0;
    if (count === 0) continue;
    // In the order of their newest.
    const groups = Map.groupBy(life, ({ takenAt }) => periodOf(period, localTime(takenAt)));
    for (const group of [...groups.values()].slice(0, count)) {
      const best = group.find(({ verified }) => verified) ?? group[0];
      if (best !== undefined) yield best;
    }
  }
}

interface LocalTime {
  /** Days since 1970-01-01, a Thursday. */
  readonly day: number;
  readonly month: string;
  /** With the offset: an hour that exists twice is two. */
  readonly hour: string;
}

function localTimeIn(timeZone: string): (time: Date) => LocalTime {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'iso8601',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    timeZoneName: 'longOffset',
  });
  return (time) => {
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]));
    const [year, month, day] = [parts.get('year'), parts.get('month'), parts.get('day')];
    const date = Date.UTC(Number(year), Number(month) - 1, Number(day)) / dayMs;
    return { day: date, month: `${year}-${month}`, hour: `${date} ${parts.get('hour')} ${parts.get('timeZoneName')}` };
  };
}

const dayMs = 24 * 3600_000;

function periodOf(period: Period, { day, month, hour }: LocalTime): string {
  switch (period) {
    case 'hourly':
      return hour;
    case 'daily':
      return String(day);
    case 'weekly':
      return String(Math.floor((day + 3) / 7));
    case 'monthly':
      return month;
  }
}
