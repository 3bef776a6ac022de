import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { type Room, type RunOptions, UsageError } from './options.ts';
import { perMinor as perMinorNames } from './per-minor.ts';

export interface Selection {
  readonly room: Room;
  /** Absolute paths. */
  readonly files: readonly string[];
  /** Which tests of those files; all if not given. */
  readonly pattern: RegExp | undefined;
  /** Files at a time. */
  readonly sideBySide: number;
  /** At the same time as the selection before it. */
  readonly isBeside?: true;
}

/** The smallest machine we care for has two processors, and a test is waiting for a third of its time. */
const sideBySide = { unit: 3, explore: 1, integration: 3, e2e: 4 } as const satisfies Record<Room, number>;

/**
 * These hold a gap between writes to a limit. It is the machine's gap where more runs than it has processors, so they
 * run before the others.
 */
export const measuring: readonly string[] = [
  'adopt',
  'node-reboots',
  'rolling',
  'scale',
  'space',
  'tls-renewal',
  'tls-rotation',
  'unkind',
  'update',
  'upgrade',
];

/** Minutes in which clocks of ours and of Kubernetes run out, and the processors have little to do. */
const waiting: readonly string[] = ['runbooks', 'runbooks-data', 'chain-recovery'];

const checkout = resolve(import.meta.dirname, '../..');

/** What to run, room by room. @throws {UsageError} listing the names there are, when the scenario is none of them. */
export async function select({ rooms, scenario, perMinor }: RunOptions): Promise<readonly Selection[]> {
  const all = perMinor ? ofEachMinor(rooms) : rooms.flatMap(selectionsOf);
  if (scenario === undefined) return all;

  const byFile = narrow(all, (file) => nameOf(file) === scenario);
  if (byFile.length > 0) return byFile;

  // Tests are known by their names only once they run; their source is known before.
  const mentioning = new Set<string>();
  for (const file of all.flatMap(({ files }) => files)) {
    if ((await readFile(file, 'utf8')).toLowerCase().includes(scenario.toLowerCase())) mentioning.add(file);
  }
  const byTest = narrow(all, (file) => mentioning.has(file));
  if (byTest.length === 0) throw unknown(scenario, all);
  const pattern = new RegExp(scenario.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
  return byTest.map((selection) => ({ ...selection, pattern }));
}

function ofEachMinor(among: readonly Room[]): readonly Selection[] {
  return (['integration', 'e2e'] as const)
    .filter((room) => among.includes(room))
    .flatMap((room) => narrow(selectionsOf(room), (file) => perMinorNames[room].some((name) => name === nameOf(file))));
}

function selectionsOf(room: Room): readonly Selection[] {
  const files = testFiles(room);
  const whole = { room, pattern: undefined, sideBySide: sideBySide[room] };
  if (room !== 'e2e') return [{ ...whole, files }];
  const among = (names: readonly string[]) => files.filter((file) => names.includes(nameOf(file)));
  return [
    { ...whole, files: among(measuring), sideBySide: 2 },
    { ...whole, files: among(waiting), sideBySide: 2, isBeside: true },
    { ...whole, files: files.filter((file) => ![...measuring, ...waiting].includes(nameOf(file))) },
  ];
}

/**
 * Those that take more than a minute and a half go first, the longest of each room before others (measured in November
 * 2026): files run side by side, and the room ends with the one that is the last to end.
 */
const longest = [
  ...['runbooks', 'runbooks-data', 'corruption', 'deaths', 'unkind', 'chain-recovery', 'upgrade', 'tutorials'],
  ...['runbooks-recovery', 'recover', 'final-backup', 'tls-lost', 'scale', 'space', 'claims', 'node-trouble'],
  ...['backup', 'restore', 'older-disk', 'faults', 'cert-manager', 'families', 'set-aside', 'take-back', 'heal'],
  ...['tls-expired', 'backup-schedule', 'tls-provided', 'rolling'],
  // Integration.
  ...['contracts', 'healing', 'traces', 'killed', 'gcs', 'isolation'],
  // Unit.
  ...['properties', 'bugs', 'certificate-faults', 'freeze', 'certificate-crashes', 'crash', 'plan'],
];

function testFiles(room: Room): string[] {
  return globSync(`test/${room}/**/*.test.ts`, { cwd: checkout })
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map((file) => join(checkout, file));
}

function rank(file: string): number {
  const index = longest.indexOf(nameOf(file));
  return index < 0 ? longest.length : index;
}

function narrow(all: readonly Selection[], keep: (file: string) => boolean): readonly Selection[] {
  return all
    .map((selection) => ({ ...selection, files: selection.files.filter(keep) }))
    .filter(({ files }) => files.length > 0);
}

function nameOf(file: string): string {
  return basename(file, '.test.ts');
}

function unknown(scenario: string, all: readonly Selection[]): UsageError {
  const names = all.flatMap(({ files }) => files.map(nameOf));
  return new UsageError(
    `there is no scenario ${JSON.stringify(scenario)}, and no test whose name has that in it; there are:\n  ${names.join('\n  ')}`,
  );
}
