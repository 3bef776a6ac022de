import { relative, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { run } from 'node:test';
import { spec } from 'node:test/reporters';
import type { FileEnd } from './notes.ts';
import type { Measured } from './slices.ts';

type TestEvent = NonNullable<ReturnType<ReturnType<typeof run>['read']>> & { type: string; data: unknown };

export interface Totals {
  tests: number;
  suites: number;
  passed: number;
  failed: number;
  cancelled: number;
  skipped: number;
  todo: number;
}

export interface Reported {
  readonly totals: Totals;
  readonly files: readonly FileTime[];
  /** Files in which no test ran. Node counts each as a test that passed; here it counts as none. */
  readonly empty: readonly string[];
}

/**
 * Prints the events of several runs as if they were one, with node's own reporter: one list of failures and one summary
 * at the end.
 *
 * @param processors what test files noted of their processor time, in seconds, by file; asked for at the end.
 */
export async function report(
  events: AsyncIterable<unknown>,
  output: NodeJS.WritableStream,
  processors: () => ReadonlyMap<string, number>,
): Promise<Reported> {
  const totals: Totals = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 };
  const started = performance.now();
  const files: Omit<FileTime, 'processors'>[] = [];
  const empty: string[] = [];
  const withProcessors = () => {
    const noted = processors();
    return files.map((file) => ({ ...file, processors: noted.get(file.file) ?? Number.NaN }));
  };
  async function* joined() {
    for await (const event of events as AsyncIterable<TestEvent>) {
      const file = timeOfFile(event);
      if (file) files.push(file);
      const without = fileWithoutTests(event);
      if (isSummary(event)) addCounts(totals, event.data.counts);
      else if (without !== undefined) empty.push(without);
      else if (!isSummaryLine(event)) yield event;
    }
    totals.tests -= empty.length;
    totals.passed -= empty.length;
    for (const message of [...slowestLines(withProcessors()), ...summaryLines(totals, performance.now() - started)]) {
      yield { type: 'test:diagnostic', data: { nesting: 0, message, level: 'info' } };
    }
  }
  await pipeline(Readable.from(joined()), new spec(), output, { end: false });
  return { totals, files: withProcessors(), empty };
}

/** How a test file ended, and what it took; its processors are `NaN` where it could not say. */
export interface FileTime extends FileEnd, Measured {}

const checkout = resolve(import.meta.dirname, '../..');

/** Only newer Node versions say it. */
function timeOfFile({ type, data }: TestEvent): Omit<FileTime, 'processors'> | undefined {
  if (type !== 'test:summary' || !hasFields(data)) return undefined;
  const { file, duration_ms, success } = data;
  if (typeof file !== 'string' || typeof duration_ms !== 'number') return undefined;
  return { file, seconds: duration_ms / 1000, passed: success === true };
}

const slowest = 10;

/**
 * Where the time of a run of many files goes: who wants it shorter begins here. Processors are those of a file's own
 * processes, without the shared cluster's.
 */
function slowestLines(files: readonly FileTime[]): string[] {
  if (files.length <= slowest) return [];
  const bySpan = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowest);
  return bySpan.map(({ file, seconds, processors }) => {
    const [span, used] = [seconds, processors].map((s) => s.toFixed(0).padStart(4));
    return `${span} s, of processors ${used} s ${relative(checkout, file)}`;
  });
}

/** Each test file's process ends with a summary of its own; the one without a file is that of the whole run. */
function isSummary(event: TestEvent): event is TestEvent & { data: { counts: Totals } } {
  return event.type === 'test:summary' && hasFields(event.data) && event.data.file === undefined;
}

/** A file's process that ended well without a test is told as a test by the file's name. */
function fileWithoutTests({ type, data }: TestEvent): string | undefined {
  if (type !== 'test:pass' || !hasFields(data)) return undefined;
  const { file, name, nesting } = data;
  return nesting === 0 && typeof file === 'string' && name === file ? file : undefined;
}

const summaryLine = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;

function isSummaryLine({ type, data }: TestEvent): boolean {
  if (type === 'test:summary') return true;
  return type === 'test:diagnostic' && hasFields(data) && data.nesting === 0 && summaryLine.test(String(data.message));
}

function hasFields(data: unknown): data is Record<string, unknown> {
  return typeof data === 'object' && data !== null;
}

function addCounts(totals: Totals, counts: Totals): void {
  for (const key of ['tests', 'suites', 'passed', 'failed', 'cancelled', 'skipped', 'todo'] as const) {
    totals[key] += counts[key];
  }
}

function summaryLines(totals: Totals, milliseconds: number): string[] {
  return [
    `tests ${totals.tests}`,
    `suites ${totals.suites}`,
    `pass ${totals.passed}`,
    `fail ${totals.failed}`,
    `cancelled ${totals.cancelled}`,
    `skipped ${totals.skipped}`,
    `todo ${totals.todo}`,
    `duration_ms ${milliseconds.toFixed(0)}`,
  ];
}
