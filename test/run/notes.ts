import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { RoomSeconds } from './shares.ts';
import type { Measured } from './slices.ts';

const checkout = resolve(import.meta.dirname, '../..');

/** What the last measured run of all took: `npm test -- --all --json test/run/measured.json`. */
const measuredFile = join(import.meta.dirname, 'measured.json');
/** Test files that failed in the last runs: they run first, in each run, until they pass. */
const failedFile = join(import.meta.dirname, 'failed.json');

export interface Times {
  readonly rooms: RoomSeconds;
  /** By path in the checkout. */
  readonly files: Readonly<Record<string, Measured>>;
}

export interface FileEnd {
  /** An absolute path. */
  readonly file: string;
  readonly passed: boolean;
}

/** By absolute path. */
export function measuredTimes(): (file: string) => Measured | undefined {
  const { files } = readTimes(measuredFile);
  return (file) => files[relative(checkout, file)];
}

/** Adds what a run took to what the file says of others. */
export function writeTimes(path: string, { rooms, files }: Times): void {
  const before = readTimes(path);
  const all = Object.entries({ ...before.files, ...files }).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const lines = all.map(([file, times]) => `    ${JSON.stringify(file)}: ${JSON.stringify(times)}`);
  writeFileSync(
    path,
    `{\n  "rooms": ${JSON.stringify({ ...before.rooms, ...rooms })},\n  "files": {\n${lines.join(',\n')}\n  }\n}\n`,
  );
}

function readTimes(path: string): Times {
  const text = readIfThere(path);
  return text === undefined ? { rooms: {}, files: {} } : (JSON.parse(text) as Times);
}

/** Absolute paths. */
export function failedBefore(): readonly string[] {
  const text = readIfThere(failedFile) ?? '[]';
  return (JSON.parse(text) as readonly string[]).map((file) => join(checkout, file));
}

/** @returns what is to be noted after a run: those that failed, and those before that this run did not see pass. */
export function failedAfter(before: readonly string[], ends: readonly FileEnd[]): readonly string[] {
  const passed = new Set(ends.flatMap(({ file, passed }) => (passed ? [file] : [])));
  const failed = ends.flatMap(({ file, passed }) => (passed ? [] : [file]));
  return [...new Set([...before.filter((file) => !passed.has(file)), ...failed])].toSorted();
}

/** @returns whether the file says something new, which is to be committed */
export function noteFailed(ends: readonly FileEnd[]): boolean {
  const before = failedBefore();
  const after = failedAfter(before, ends);
  if (after.length === before.length && after.every((file) => before.includes(file))) return false;
  const list = after.map((file) => relative(checkout, file));
  writeFileSync(failedFile, `${JSON.stringify(list, undefined, 2)}\n`);
  return true;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
