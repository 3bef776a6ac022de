import { shown } from './problem.ts';
import { didYouMean } from './suggest.ts';

/** A schedule: the five fields of a CronJob, or a short name. Judged by its text; `reconcile/time/due.ts` has times. */

interface Field {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** The first one stands for `least`. */
  readonly names: readonly string[];
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

const fields: readonly Field[] = [
  { name: 'minute', least: 0, most: 59, names: [] },
  { name: 'hour', least: 0, most: 23, names: [] },
  { name: 'day', least: 1, most: 31, names: [] },
  { name: 'month', least: 1, most: 12, names: months },
  { name: 'weekday', least: 0, most: 7, names: weekdays },
];

const shortNames = ['@hourly', '@daily', '@midnight', '@weekly', '@monthly', '@yearly', '@annually'] as const;
const order = fields.map(({ name }) => name).join(' ');
const example = `"30 2 * * *" (${order}) or @daily`;

/** Every minute of an hour written out has 170. Characters. */
export const longestCron = 256;

/** The shape, for the API server: each number within its field. Ranges that go backward are not in it. */
export const cronPattern = `^(${shortNames.join('|')}|${fields.map(patternOf).join(' +')})$`;

/** Says why an expression is wrong, or `undefined`. Takes any text, and never throws. */
export function problemOfCron(text: string): string | undefined {
  if (text.length > longestCron) return `it has ${text.length} characters, at most ${longestCron} are read`;
  if (text.startsWith('@')) return problemOfShortName(text);
  if (/^(CRON_)?TZ=/.test(text)) return 'a time zone does not belong here: write it into timeZone';
  const parts = text.split(/ +/);
  if (parts.length !== fields.length)
    return `it has ${parts.length} ${parts.length === 1 ? 'field' : 'fields'}, not ${fields.length}: write it like ${example}`;
  for (const [index, field] of fields.entries()) {
    const problem = problemOfField(parts[index] ?? '', field);
    if (problem !== undefined) return problem;
  }
  return isNeverDue(parts) ? `it is never due: month ${parts[3]} has no day ${parts[2]}` : undefined;
}

function problemOfShortName(text: string): string | undefined {
  if (shortNames.some((name) => name === text)) return undefined;
  const cure = text.startsWith('@every')
    ? '; an interval has no time of day, so write for instance "0 */6 * * *"'
    : didYouMean(text, shortNames);
  return `${shown(text)} is not known: use ${shortNames.join(', ')}${cure}`;
}

function problemOfField(text: string, field: Field): string | undefined {
  for (const item of text.split(',')) {
    const [, range = '', step] = /^([^/]*)(?:\/(.*))?$/s.exec(item) ?? [];
    const bounds =
      range === '*' || range === '?' ? [field.least, field.most] : range.split('-').map((end) => at(end, field));
    const wrong =
      range === '*' || range === '?' ? undefined : range.split('-').find((end) => at(end, field) === undefined);
    if (wrong !== undefined) return problemOfValue(wrong, item, field);
    const [from = field.least, to = from] = bounds;
    if (bounds.length > 2) return `${field.name} ${shown(item)} has more than one "-": separate ranges by commas`;
    if (upTo(to, range, field) < from)
      return `${field.name} ${shown(item)} goes backward: write two ranges, like ${backward(item, field)}`;
    if (step === undefined) continue;
    if (!/^[0-9]{1,2}$/.test(step) || Number(step) < 1 || Number(step) > field.most)
      return `${field.name} ${shown(item)} has no step from 1 to ${field.most} after "/"`;
    if (bounds.length === 1)
      return `${field.name} ${shown(item)}: a step needs a range before it, like ${from}-${field.most}/${step}`;
  }
  return undefined;
}

function problemOfValue(value: string, item: string, field: Field): string {
  const { name, least, most, names } = field;
  const within = `${least} to ${most}${names.length > 0 ? ` or ${names[0]} to ${names.at(-1)}` : ''}`;
  if (/^[0-9]+$/.test(value)) return `${name} ${shown(item)} is out of range: it goes from ${within}`;
  const what = value === '' ? `${name} ${shown(item)} lacks a value` : `${name} ${shown(item)} can't be read`;
  return `${what}: use ${within}, "*", or a list, range or step of them${didYouMean(value, names)}`;
}

function at(text: string, { least, most, names }: Field): number | undefined {
  const named = names.indexOf(text.toUpperCase());
  if (named >= 0) return least + named;
  if (!/^[0-9]{1,2}$/.test(text)) return undefined;
  const number = Number(text);
  return number >= least && number <= most ? number : undefined;
}

/** `FRI-SUN` ends with the Sunday that follows; `FRI-0` goes backward. */
function upTo(to: number, range: string, { names }: Field): number {
  return names === weekdays && to === 0 && /-sun$/i.test(range) ? 7 : to;
}

function backward(item: string, { least, most }: Field): string {
  const [from, to] = item.split('/')[0]?.split('-') ?? [];
  return `${from}-${most},${least}-${to}`;
}

/** Days per month, in a leap year. */
const longestMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** The 30th of February. With a weekday beside it, either of the two makes it due. */
function isNeverDue([, , day = '*', month = '*', weekday = '*']: readonly string[]): boolean {
  if (isAny(day) || !isAny(weekday)) return false;
  const first = Math.min(...day.split(',').map((item) => Number.parseInt(item, 10)));
  const [, , , monthField] = fields;
  if (isAny(month) || monthField === undefined) return false;
  const asked = longestMonths.filter((_, index) =>
    month.split(',').some((item) => includes(item, index + 1, monthField)),
  );
  return asked.every((days) => days < first);
}

function isAny(text: string): boolean {
  return text.split(',').some((item) => item.startsWith('*') || item.startsWith('?'));
}

function includes(item: string, value: number, field: Field): boolean {
  const [range = '', step = '1'] = item.split('/');
  const [from = field.least, to = from] = range.split('-').map((end) => at(end, field));
  return value >= from && value <= to && (value - from) % Number(step) === 0;
}

function patternOf({ least, most, names }: Field): string {
  const value = `(${numbers(least, most)}${names.map((name) => `|${anyCase(name)}`).join('')})`;
  const step = `(/(${numbers(1, most)}))?`;
  const item = `([*?]${step}|${value}(-${value}${step})?)`;
  return `${item}(,${item})*`;
}

/** `0?[0-9]|[1-4][0-9]|5[0-9]`, and the like. */
function numbers(least: number, most: number): string {
  if (most < 10) return `0?[${least}-${most}]`;
  const tens = Math.floor(most / 10);
  const whole = tens > 1 ? [`${tens > 2 ? `[1-${tens - 1}]` : '1'}[0-9]`] : [];
  return [`0?[${least}-9]`, ...whole, `${tens}[0-${most % 10}]`].join('|');
}

function anyCase(name: string): string {
  return [...name].map((letter) => `[${letter}${letter.toLowerCase()}]`).join('');
}
