import { Cron } from 'croner';
import { problemOfCron } from '../../manifests/api/cron.ts';
import { parseDuration } from '../../manifests/api/duration.ts';
import { windowDefaults } from '../../manifests/api/spec-defaults.ts';
import { problemOfTimeZone } from '../../manifests/api/time-rules.ts';
import type { Windows } from '../../manifests/api/windows.ts';

/**
 * The times of a cron expression in a time zone. Pure. Where clocks change, a backup is neither left out nor made
 * twice: a missing time of day is due at the first one that exists, a double one the first time. (A CronJob leaves out
 * the former, and runs the latter twice.) With `*` or a step in minute or hour, the running clock decides.
 */
export interface DueTimes {
  /** The first one after a time, or `undefined`: there is none in this or the next 400 years. */
  next(after: Date): Date | undefined;
  /**
   * The last one in `(after, until]`, and whether it is the only one: missed times are caught up once, however many.
   * Takes as long for a minute as for a century.
   */
  missed(after: Date, until: Date): Missed | undefined;
}

interface Missed {
  readonly at: Date;
  /** Earlier ones of the same time were missed too. */
  readonly others: boolean;
}

/** Of what a person wrote. */
interface DueProblem {
  readonly problem: string;
}

/** Never throws: what can't be read is a problem, in words. */
export function dueTimes(schedule: string, timeZone: string): DueTimes | DueProblem {
  const wrongZone = problemOfTimeZone(timeZone);
  if (wrongZone !== undefined) return { problem: `timeZone: ${wrongZone}` };
  const wrong = problemOfCron(schedule);
  if (wrong !== undefined) return { problem: `schedule: ${wrong}` };
  let cron: Cron;
  try {
    cron = new Cron(schedule, { timezone: timeZone, mode: '5-part', fixedTimeRule: 'no-wildcard' });
  } catch (error) {
    // It reads less than is checked above: then too there is a problem, and no exception.
    return { problem: `schedule: ${error instanceof Error ? error.message : String(error)}` };
  }
  return {
    next: (after) => cron.nextRun(after) ?? undefined,
    missed(after, until) {
      // The library leaves out a run at the very reference; runs are at whole minutes.
      const [last, before] = cron.previousRuns(2, new Date(until.getTime() + 1_000));
      if (last === undefined || last <= after || last > until) return undefined;
      return { at: last, others: before !== undefined && before > after };
    },
  };
}

type Opening =
  | { readonly kind: 'open' }
  /** `opensAt` is absent where no window opens any more. */
  | { readonly kind: 'shut'; readonly opensAt?: Date }
  /** In words: which of the windows can't be read, and why. */
  | { readonly kind: 'unreadable'; readonly problem: string };

/**
 * Whether something may begin now. A window opens when its cron expression is due in its time zone, and stays open for
 * its duration, over midnight and changes of clocks. An unreadable one shuts all of them. Pure.
 */
export function openingOf(windows: Windows | undefined, at: Date): Opening {
  if (windows === undefined) return { kind: 'open' };
  const nexts: Date[] = [];
  let isOpen = false;
  for (const [index, { start, duration, timeZone = windowDefaults.timeZone }] of windows.entries()) {
    const times = dueTimes(start, timeZone);
    if ('problem' in times) return { kind: 'unreadable', problem: `windows[${index}]: ${times.problem}` };
    isOpen ||= times.missed(new Date(at.getTime() - parseDuration(duration)), at) !== undefined;
    nexts.push(...[times.next(at) ?? []].flat());
  }
  if (isOpen) return { kind: 'open' };
  const [opensAt] = nexts.toSorted((a, b) => a.getTime() - b.getTime());
  return { kind: 'shut', ...(opensAt && { opensAt }) };
}
