import { cronPattern, problemOfCron } from './cron.ts';
import { shown } from './problem.ts';
import { celEscape, rule } from './rule.ts';
import { didYouMean } from './suggest.ts';

/** Rules of what is due by the clock: backups, and windows in which something may begin. */

export const isCron = rule<string>({
  message: 'must be a cron expression like 30 2 * * * or @daily',
  cel: `self.matches('${celEscape(cronPattern)}')`,
  // Ranges that go backward and days that never come are told by `explain`, and by a condition.
  holds: (value) => new RegExp(cronPattern, 'u').test(value) && problemOfCron(value) === undefined,
  explain: problemOfCron,
});

/** The shape of a name of the IANA database, for the API server, which can't look it up. Offsets know no DST. */
const timeZonePattern = '^[A-Za-z][A-Za-z0-9_+-]{0,31}(/[A-Za-z0-9_+-]{1,31}){0,2}$';

export const isTimeZone = rule<string>({
  message: 'must be a time zone of the IANA database, like UTC or Europe/Berlin',
  cel: `self.matches('${celEscape(timeZonePattern)}')`,
  holds: (value) => problemOfTimeZone(value) === undefined,
  explain: problemOfTimeZone,
});

/** Says why the name of a time zone is wrong, or `undefined`. Takes any text, and never throws. */
export function problemOfTimeZone(name: string): string | undefined {
  const example = 'use a name of the IANA database, like UTC or Europe/Berlin';
  if (!new RegExp(timeZonePattern).test(name)) return `${shown(name)} is no time zone: ${example}`;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return undefined;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `time zone ${shown(name)} is not known: ${example}${didYouMean(name, ['UTC', ...Intl.supportedValuesOf('timeZone')])}`;
  }
}
