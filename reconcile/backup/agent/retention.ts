/**
 * Which backups a schedule keeps. Pure. Of two backups of one life the one with the higher revision is newer, whatever
 * the clocks of nodes say; lives, and the periods of a calendar, go by the API server's clock.
 */

export const periods = ['hourly', 'daily', 'weekly', 'monthly'] as const;
type Period = (typeof periods)[number];

/** How many of each; absent: none. */
export type Keep = Readonly<Partial<Record<'last' | Period, number>>>;

export interface KnownBackup {
  /** Unlike all others. */
  readonly name: string;
  /** By the clock of the node that took it. */
  readonly takenAt: Date;
  /** When its EtcdBackup was made, by the API server's clock. Absent: an earlier release took it. */
  readonly askedAt?: Date;
  readonly revision: number;
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
  /** Of those: what holds another life of the cluster than the newest one. */
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
 * A backup with a time in the future counts for nothing and stays until that time: else a wrong clock would take the
 * place of a day in the calendar for years.
 */
export function retain<T extends KnownBackup>({ backups, keep, timeZone, now }: RetentionInput<T>): Retained<T> {
  const oldestFirst = backups.toSorted((a, b) => timeOf(a) - timeOf(b) || a.revision - b.revision);
  const isPresent = (one: T) => timeOf(one) <= now.getTime();
  const present = oldestFirst.filter(isPresent);
  const lives = livesIn(present);
  const kept = new Set<T>(oldestFirst.filter((one) => !isPresent(one)));
  const localTime = localTimeIn(timeZone);
  for (const life of lives) for (const one of keptOf(life, keep, localTime)) kept.add(one);
  const newest = present.at(-1) ?? oldestFirst.at(-1);
  const current = new Set(lives.find((life) => newest && life.backups.includes(newest))?.backups);
  const isOfAnother = (one: T) => (isPresent(one) ? !current.has(one) : one.clusterId !== newest?.clusterId);
  const all = oldestFirst.filter((one) => kept.has(one)).toReversed();
  return {
    kept: all,
    earlierLives: all.filter(isOfAnother),
    removed: oldestFirst.filter((one) => !kept.has(one)),
  };
}

function timeOf({ askedAt, takenAt }: KnownBackup): number {
  return (askedAt ?? takenAt).getTime();
}

interface Life<T> {
  /** Revisions never fall: the last one is the newest. */
  readonly backups: T[];
  /** Another life of the same etcd cluster ID came before it. */
  readonly isAnother: boolean;
}

/** By cluster ID; and where the revision falls, as after a recovery that kept the ID, what follows is another life. */
function livesIn<T extends KnownBackup>(oldestFirst: readonly T[]): readonly Life<T>[] {
  const lives: Life<T>[] = [];
  const open = new Map<string, Life<T>>();
  for (const one of oldestFirst) {
    const life = open.get(one.clusterId);
    const newest = life?.backups.at(-1);
    if (life && newest && one.revision >= newest.revision) {
      life.backups.push(one);
      continue;
    }
    const next = { backups: [one], isAnother: life !== undefined };
    open.set(one.clusterId, next);
    lives.push(next);
  }
  return lives;
}

function* keptOf<T extends KnownBackup>(
  { backups, isAnother }: Life<T>,
  keep: Keep,
  localTime: (time: Date) => LocalTime,
): Generator<T> {
  const life = backups.toReversed();
  yield* life.slice(0, Math.max(1, keep.last ?? 0));
  // Without it, a later look would find no fall, and take the life before for this one.
  if (isAnother) yield* life.slice(-1);
  yield* life.filter(({ verified }) => verified).slice(0, 1);
  for (const period of periods) {
    const count = keep[period] ?? 0;
    if (count === 0) continue;
    // In the order of their newest.
    const groups = Map.groupBy(life, (one) => periodOf(period, localTime(new Date(timeOf(one)))));
    for (const group of [...groups.values()].slice(0, count)) {
      yield* [...group.filter(({ verified }) => verified), ...group].slice(0, 1);
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
