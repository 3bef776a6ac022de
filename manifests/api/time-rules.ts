import { cronPattern, problemOfCron } from './cron.ts';
import { celEscape, rule } from './rule.ts';
import { problemOfTimeZone, timeZonePattern } from './time-zone.ts';

/** Rules of what is due by the clock: backups, and windows in which something may begin. */

export const isCron = rule<string>({
  message: 'must be a cron expression like 30 2 * * * or @daily',
  cel: `self.matches('${celEscape(cronPattern)}')`,
  // Ranges that go backward and days that never come are told by `explain`, and by a condition.
  holds: (value) => new RegExp(cronPattern, 'u').test(value) && problemOfCron(value) === undefined,
  explain: problemOfCron,
});

export const isTimeZone = rule<string>({
  message: 'must be a time zone of the IANA database, like UTC or Europe/Berlin',
  cel: `self.matches('${celEscape(timeZonePattern)}')`,
  holds: (value) => problemOfTimeZone(value) === undefined,
  explain: problemOfTimeZone,
});
