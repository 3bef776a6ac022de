import { shown } from './problem.ts';
import { didYouMean } from './suggest.ts';

/** The shape of a name of the IANA database, for the API server, which can't look it up. Offsets know no DST. */
export const timeZonePattern = '^[A-Za-z][A-Za-z0-9_+-]{0,31}(/[A-Za-z0-9_+-]{1,31}){0,2}$';

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
