import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { measuredTimes } from './notes.ts';

/** A process of `run({ files })`. */
export interface UnitGroup {
  /** What it is given: the only one of `files`, or a script that runs them one after the other. */
  readonly entry: string;
  /** Absolute paths, in their order. */
  readonly files: readonly string[];
}

const checkout = resolve(import.meta.dirname, '../..');

/** Of processors, as measured last: others should work meanwhile. */
const longSeconds = 5;
/** In a process, so that a large folder keeps several processors busy. */
const mostFiles = 24;

/**
 * One process per folder: what a small test file takes is to start Node and to load what its neighbours load, too. A
 * long one stays alone, and one with hooks for its whole process, or that looks at its memory.
 *
 * `run()` gets the entries, and perFile() makes of its events those of files.
 *
 * @param directory where entries are written, and files note their processor time
 */
export function unitGroups(files: readonly string[], directory: string): readonly UnitGroup[] {
  const measured = measuredTimes();
  const staysAlone = (file: string) =>
    (measured(file)?.processors ?? 0) > longSeconds || isAboutItsProcess(readFileSync(file, 'utf8'));
  const alone = files.filter(staysAlone);
  const folders = Map.groupBy(
    files.filter((file) => !alone.includes(file)),
    dirname,
  );
  const together = [...folders]
    .flatMap(([folder, inside]) => inPieces(inside).map((piece, index) => ({ folder, index, files: piece })))
    .map(({ folder, index, files: piece }) => ({
      entry: entryFor(join(directory, `${relative(checkout, folder)}-${index}.mjs`), piece, directory),
      files: piece,
    }))
    // The room ends with the process that is the last to end.
    .toSorted((a, b) => b.files.length - a.files.length);
  return [...alone.map((file) => ({ entry: file, files: [file] })), ...together];
}

/**
 * Hooks at the start of a line, as Biome indents what is in a suite; `after` only comes late, when the folder ends.
 * And the memory of the process, which neighbours use, too.
 */
function isAboutItsProcess(source: string): boolean {
  return /^(before|beforeEach|afterEach)\(|\bmemoryUsage\b/m.test(source);
}

function inPieces(files: readonly string[]): readonly (readonly string[])[] {
  const pieces = Math.ceil(files.length / mostFiles);
  // In turns: neighbours by name tell of the same thing, and take about as long.
  return Array.from({ length: pieces }, (_, piece) => files.filter((_, index) => index % pieces === piece));
}

function entryFor(entry: string, files: readonly string[], directory: string): string {
  mkdirSync(dirname(entry), { recursive: true });
  const script = JSON.stringify(pathToFileURL(join(import.meta.dirname, 'run-files.ts')).href);
  const call = `await runFiles(${JSON.stringify(files)}, ${JSON.stringify(directory)});`;
  writeFileSync(entry, `import { runFiles } from ${script};\n${call}\n`);
  return entry;
}
