import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { chosenGitServer, otherServers, type PersonalityName } from '../support/git/personalities.ts';
import { meetsAllGitServers } from './git-servers.ts';
import { failedBefore, measuredTimes } from './notes.ts';
import { type Extent, type Room, type RunOptions, UsageError } from './options.ts';
import { turn } from './part.ts';
import { perMinor as perMinorNames } from './per-minor.ts';
import { isInRing1, isResting } from './rings.ts';
import { sliceOf, slicesOf } from './slices.ts';

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
  /** Which stand-in serves Git; absent: the one that the environment names. */
  readonly gitServer?: PersonalityName;
}

/** The smallest machine we care for has two processors, and a test is waiting for a third of its time. */
const sideBySide = { unit: 3, explore: 1, integration: 3, e2e: 4 } as const satisfies Record<Room, number>;

/**
 * These hold a gap between writes to a limit. It is the machine's gap where more runs than it has processors, so they
 * run before the others.
 */
export const measuring: readonly string[] = [
  'adopt',
  'auth',
  'clients',
  'coredns',
  'life-sizes',
  'life-versions',
  'node-reboots',
  'rolling',
  'space',
  'tls-rotation',
  'unkind',
  'update',
];

/** These compare times within themselves: what runs beside them, and ends in the middle, is a difference. */
export const comparing: readonly string[] = ['neighbours'];

/** Minutes in which clocks of ours and of Kubernetes run out, and the processors have little to do. */
const waiting: readonly string[] = ['runbooks', 'runbooks-data', 'chain-recovery'];

const checkout = resolve(import.meta.dirname, '../..');

/**
 * What to run, room by room.
 * @param failed absolute paths of what failed before
 * @throws {UsageError} listing the names there are, when the scenario is none of them
 */
export async function select(
  options: RunOptions,
  failed: readonly string[] = failedBefore(),
): Promise<readonly Selection[]> {
  const asked = gitServerAskedFor();
  const selections = await selectOnce(options, failed);
  if (!options.everyGitServer || asked) return selections;
  const againstOthers = otherServers.flatMap((server) => against(server, selections));
  if (options.extent === 'gitServers') return againstOthers;
  // The shared cluster starts when all others are done.
  const [stories, others] = [true, false].map((isE2e) => selections.filter(({ room }) => (room === 'e2e') === isE2e));
  return [...(others ?? []), ...againstOthers, ...(stories ?? [])];
}

/** @throws {UsageError} naming the servers that there are */
function gitServerAskedFor(): boolean {
  try {
    return chosenGitServer(process.env) !== 'git';
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function against(gitServer: PersonalityName, selections: readonly Selection[]): readonly Selection[] {
  return narrow(selections, meetsAllGitServers).map((selection) => ({ ...selection, gitServer }));
}

async function selectOnce(
  { rooms, scenario, extent }: RunOptions,
  failed: readonly string[],
): Promise<readonly Selection[]> {
  const all = ofExtent(extent, rooms, { scenario, failed });
  if (scenario === undefined) return isWhole(extent) ? failedFirst(all, failed) : all;

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

/** Not of one matter alone: its times and failures say something of the suite. */
export function isWhole(extent: Extent): boolean {
  return extent === 'ring1' || extent === 'all' || typeof extent === 'object';
}

/** What only they enforce; asked for by name, any other story too, as far as it can do without the process node. */
function onRealNodes(scenario: string | undefined): readonly Selection[] {
  const folders = scenario === undefined ? (['real-node'] as const) : (['real-node', 'e2e'] as const);
  return [alone(folders.flatMap(testFiles))];
}

function alone(files: readonly string[]): Selection {
  return { room: 'e2e', files, pattern: undefined, sideBySide: 1 };
}

function ofExtent(
  extent: Extent,
  among: readonly Room[],
  { scenario, failed }: { readonly scenario: string | undefined; readonly failed: readonly string[] },
): readonly Selection[] {
  if (extent === 'realNode') return onRealNodes(scenario);
  if (extent === 'consumers') return [alone(testFiles('consumers'))];
  if (extent === 'perMinor') return ofEachMinor(among);
  const all = among.flatMap(selectionsOf);
  if (extent === 'all') return all;
  if (extent === 'gitServers') return narrow(all, meetsAllGitServers);
  const isTold = (file: string) => isInRing1(file) && !isResting(file, turn() ?? 0);
  if (extent === 'ring1') return narrow(all, (file) => isTold(file) || failed.includes(file));
  const slice = sliceOf(slices(), extent.slice);
  return narrow(all, (file) => slice.includes(file));
}

/** Of all that ring 1 leaves out. */
export function slices(): readonly (readonly string[])[] {
  const rest = (['integration', 'e2e'] as const).flatMap(testFiles).filter((file) => !isInRing1(file));
  const measured = measuredTimes();
  return slicesOf(rest, (file) => {
    const times = measured(file);
    // Alone, it takes as long as four others would beside each other.
    return times && comparing.includes(nameOf(file)) ? { ...times, seconds: 4 * times.seconds } : times;
  });
}

/** What failed in the last runs is what a person waits to hear of. */
function failedFirst(all: readonly Selection[], failed: readonly string[]): readonly Selection[] {
  return [...narrow(all, (file) => failed.includes(file)), ...narrow(all, (file) => !failed.includes(file))];
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
    { ...whole, files: among(comparing), sideBySide: 1 },
    { ...whole, files: among(measuring), sideBySide: 2 },
    { ...whole, files: among(waiting), sideBySide: 2, isBeside: true },
    { ...whole, files: files.filter((file) => ![...comparing, ...measuring, ...waiting].includes(nameOf(file))) },
  ];
}

/** The longest go first, as measured: files run side by side, and a room ends with the one that is the last to end. */
function testFiles(room: Room | 'real-node' | 'consumers'): string[] {
  const measured = measuredTimes();
  const seconds = (file: string) => measured(file)?.seconds ?? 0;
  return globSync(`test/${room}/**/*.test.ts`, { cwd: checkout })
    .map((file) => join(checkout, file))
    .sort((a, b) => seconds(b) - seconds(a) || (a < b ? -1 : 1));
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
