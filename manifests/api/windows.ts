import Type, { type Static } from 'typebox';
import { durationBetween } from './common-rules.ts';
import { longestCron } from './cron.ts';
import { longestDurationText } from './duration.ts';
import { list, object, type ReadonlyDeep, text } from './schema.ts';
import { windowDefaults } from './spec-defaults.ts';
import { isCron, isTimeZone } from './time-rules.ts';

const windowSchema = object({
  start: text(longestCron, {
    minLength: 1,
    description: 'When it opens: minute hour day month weekday, like "0 22 * * MON-FRI".',
    rules: [isCron],
  }),
  duration: text(longestDurationText, {
    description: 'How long it stays open, by a clock that is never set: over midnight and over a change of clocks.',
    rules: [durationBetween('10m', '168h')],
  }),
  timeZone: Type.Optional(
    text(64, {
      default: windowDefaults.timeZone,
      description: 'Of the IANA database.',
      rules: [isTimeZone],
    }),
  ),
});

/** Times of the week in which something may begin. */
export function windowsSchema(description: string) {
  return list(windowSchema, 16, { description });
}

export type Windows = ReadonlyDeep<Static<ReturnType<typeof windowsSchema>>>;
