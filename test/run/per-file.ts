import { endOf } from './run-files.ts';
import type { UnitGroup } from './unit-groups.ts';

interface Event {
  readonly type: string;
  readonly data: unknown;
}

interface Fields {
  readonly name?: unknown;
  readonly nesting?: unknown;
  readonly file?: unknown;
  readonly counts?: Readonly<Record<string, number>>;
  readonly details?: { readonly duration_ms?: number };
}

/** The course of a file before its end. */
interface Course {
  readonly milliseconds: number;
  readonly success: boolean;
}

const begun: Course = { milliseconds: 0, success: true };
const died: Course = { milliseconds: 0, success: false };

/**
 * The events of groups as if each file had a process of its own: with a summary for each, and without the suites that
 * only mark its end. Where a process dies, each of its files that is not at its end has failed.
 */
export async function* perFile(
  events: AsyncIterable<unknown>,
  groups: readonly UnitGroup[],
): AsyncGenerator<Event, void> {
  const filesOf = new Map(groups.filter(({ entry, files }) => files[0] !== entry).map((one) => [one.entry, one.files]));
  const grouped = new Set(groups.flatMap(({ files }) => files));
  const ended = new Set<string>();
  let course = begun;
  for await (const event of events as AsyncIterable<Event>) {
    const { name, file, ...data } = fieldsOf(event.data);
    if (typeof name === 'string' && name.startsWith(endOf)) {
      if (event.type !== 'test:pass') continue;
      const marked = name.slice(endOf.length);
      ended.add(marked);
      yield summaryOf(marked, course);
      course = begun;
      continue;
    }
    const files = typeof file === 'string' ? filesOf.get(file) : undefined;
    const isSummary = event.type === 'test:summary';
    if (files !== undefined && (isSummary || event.type === 'test:fail')) {
      for (const one of files) if (!ended.has(one)) yield summaryOf(one, died);
      course = begun;
    } else if (!isOfAnother(file, grouped)) course = after(course, event.type, data);
    if (isSummary && files !== undefined) continue;
    yield isSummary && file === undefined ? withoutMarks(event, ended.size) : event;
  }
}

/** Files that have a process of their own run meanwhile. */
function isOfAnother(file: unknown, grouped: ReadonlySet<string>): boolean {
  return typeof file === 'string' && file.endsWith('.test.ts') && !grouped.has(file);
}

function after(course: Course, type: string, { nesting, details }: Fields): Course {
  if (nesting !== 0 || (type !== 'test:pass' && type !== 'test:fail')) return course;
  const milliseconds = course.milliseconds + (details?.duration_ms ?? 0);
  return { milliseconds, success: course.success && type === 'test:pass' };
}

function summaryOf(file: string, { milliseconds, success }: Course): Event {
  return { type: 'test:summary', data: { file, duration_ms: milliseconds, success, counts: {} } };
}

/** Of the whole run. */
function withoutMarks(event: Event, marks: number): Event {
  const data = fieldsOf(event.data);
  return { ...event, data: { ...data, counts: { ...data.counts, suites: (data.counts?.suites ?? 0) - marks } } };
}

function fieldsOf(data: unknown): Fields {
  return typeof data === 'object' && data !== null ? data : {};
}
