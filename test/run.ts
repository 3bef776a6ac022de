import { mkdtempDisposableSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { run } from 'node:test';
import { pathToFileURL } from 'node:url';
import { roomMeter, startedVariable } from './run/meter.ts';
import { named } from './run/named.ts';
import { noteFailed, writeTimes } from './run/notes.ts';
import { parseOptions, type Room, type RunOptions, UsageError } from './run/options.ts';
import { bundlePackages, packagesVariable } from './run/packages.ts';
import { commits, partVariable } from './run/part.ts';
import { perFile } from './run/per-file.ts';
import { type Reported, report } from './run/report.ts';
import { isInRing1 } from './run/rings.ts';
import { isWhole, type Selection, select } from './run/scenarios.ts';
import { type SharedCluster, sharedCluster } from './run/shared-cluster.ts';
import { held, type Pace, type RoomSeconds } from './run/shares.ts';
import { unitGroups } from './run/unit-groups.ts';
import { takeYardstick } from './run/yardstick.ts';
import { ProvisionError } from './support/cluster/binaries/error.ts';
import { type Binaries, binariesEnvironment, provisionBinaries } from './support/cluster/binaries.ts';
import { needConsumers } from './support/cluster/consumers/needs.ts';
import type { LocalCluster } from './support/cluster/local-cluster.ts';
import { buildOwnImage } from './support/cluster/own-image.ts';
import { needRealNode } from './support/cluster/real-node/needs.ts';
import { currentSandbox, enterSandbox } from './support/cluster/sandbox.ts';
import { offerControlPlane } from './support/cluster/shared-control-plane.ts';
import { realNodeEnvironment, toolsFor } from './support/cluster/tools.ts';
import { gitServerVariable } from './support/git/personalities.ts';
import { notedProcessorSeconds, notesVariable, processorSeconds } from './support/processor-time.ts';

/**
 * A file's process is killed after this many milliseconds: nothing here may hang for good. `EXHAUSTIVE=1` takes hours.
 */
const timeouts = {
  // Many files share a process: see unit-groups.ts.
  unit: 600_000,
  explore: 240_000,
  integration: 600_000,
  e2e: process.env.EXHAUSTIVE ? 14_400_000 : 900_000,
} as const satisfies Record<Room, number>;

/** Every file is a process of its own: most of what a small one costs is to find, link and compile what it imports. */
const checkout = resolve(import.meta.dirname, '..');
const cache = join(checkout, 'node_modules/.cache/etcd-ratchet');

const preloaded = (name: string) => `--import=${pathToFileURL(resolve(import.meta.dirname, `run/${name}.ts`)).href}`;

/**
 * `npm test`: unit tests, a short search, integration and end-to-end tests of ring 1, and one summary at the end.
 *
 * Integration and end-to-end tests run inside the sandbox, so that whatever they leave behind goes with it. One local
 * cluster serves all end-to-end tests; it starts when the others are done. With --real-node its nodes are real ones.
 * With RATCHET_USE_KUBECONFIG=1 they use the cluster of KUBECONFIG.
 */
async function main(): Promise<number> {
  process.env.NODE_COMPILE_CACHE ??= join(cache, 'compiled');
  process.env[packagesVariable] ??= JSON.stringify(await bundlePackages(join(cache, 'packages')));
  if (currentSandbox() === undefined) process.once('exit', sayProcessorTime);
  const options = parseOptions(process.argv.slice(2));
  if (options.extent === 'ring1') process.env[partVariable] ??= String(await commits());
  const selections = await select(options);
  const onRealNodes = options.extent === 'realNode';
  // Before what takes minutes.
  if (options.extent === 'consumers' && currentSandbox() === undefined) needConsumers();
  const binaries = await prepare(selections, onRealNodes);
  // Where unit tests note which rights their requests take: an integration test holds them against the roles.
  using rights = mkdtempDisposableSync(join(currentSandbox()?.directory ?? tmpdir(), 'etcd-ratchet-rights-'));
  process.env.RATCHET_USED_RIGHTS = rights.path;
  using times = mkdtempDisposableSync(join(currentSandbox()?.directory ?? tmpdir(), 'etcd-ratchet-times-'));
  process.env[notesVariable] = times.path;
  const needsCluster = selections.some(({ room }) => room === 'e2e') && !usesOwnCluster();
  await using offer = binaries && currentSandbox() && !onRealNodes ? await offerControlPlane(binaries) : undefined;
  await using cluster = needsCluster ? sharedCluster(binaries, { offer, onRealNodes }) : undefined;

  const meter = roomMeter();
  const yardstick = takeYardstick();
  const enter = (room: Room) => {
    meter.enter(room);
    yardstick.enter(room);
  };
  const events = allEvents(selections, cluster, untilInterrupted(), enter);
  const reported = await report(events, process.stdout, () => notedProcessorSeconds(times.path));
  const { totals } = reported;
  if (totals.tests === 0) console.error('no test ran');
  // A scenario may be a word in a file that is in no test's name.
  const empty = options.scenario === undefined ? reported.empty : [];
  for (const file of empty) console.error(`${file}: no test ran`);
  const isOver = tellTimes(options, reported, meter.end(), await yardstick.end());
  const failed = totals.failed + totals.cancelled + empty.length + (isOver ? 1 : 0);
  const outcome = await cluster?.outcome();
  if (failed > 0 && outcome && outcome !== 'failed') await keepLogs(outcome);
  return totals.tests === 0 || failed > 0 || outcome === 'failed' ? 1 : 0;
}

/** @returns whether a room took more than its share, which only a whole run of ring 1 can tell */
function tellTimes(options: RunOptions, { files }: Reported, used: RoomSeconds, pace: Pace): boolean {
  const { extent, scenario, json, rooms } = options;
  if (json !== undefined) {
    const told = files.map(
      ({ file, seconds, processors }) => [relative(checkout, file), { seconds, processors }] as const,
    );
    writeTimes(json, { rooms: used, files: Object.fromEntries(told) });
  }
  // What a person asked for by name, that person looks at.
  if (scenario !== undefined || !isWhole(extent) || rooms.length === 1) return false;
  if (!process.env.CI && noteFailed(files))
    console.error('test/run/failed.json says what failed: commit it, so that every run begins with it');
  if (extent !== 'ring1') return false;
  const lines = held(used, pace);
  for (const { line } of lines) console.log(line);
  // What failed before runs along, and has no share.
  return files.every(({ file }) => isInRing1(file)) && lines.some(({ isExceeded }) => isExceeded);
}

function usesOwnCluster(): boolean {
  return process.env.RATCHET_USE_KUBECONFIG === '1' && process.env.KUBECONFIG !== undefined;
}

/**
 * Binaries come from outside; everything after this runs inside, unless only unit tests or an own cluster are asked
 * for.
 */
async function prepare(selections: readonly Selection[], onRealNodes: boolean): Promise<Binaries | undefined> {
  if (selections.every(({ room }) => room === 'unit' || room === 'explore')) return undefined;
  const startsRealNodes = onRealNodes && !usesOwnCluster();
  if (startsRealNodes) needRealNode();
  const before = processorSeconds();
  const binaries = await provisionBinaries();
  const provisioning = processorSeconds() - before;
  const files = selections.flatMap((selection) => selection.files);
  const ofNodes = startsRealNodes ? await realNodeEnvironment() : {};
  const environment = { ...binariesEnvironment(binaries), ...(await toolsFor(files)), ...ofNodes };
  if (usesOwnCluster()) Object.assign(process.env, environment);
  else {
    // On a new machine, binaries are built first: that is not part of a run.
    const started = String(processorSeconds() - provisioning);
    const rights = startsRealNodes ? 'root' : 'any';
    const sandbox = await enterSandbox({ ...environment, [startedVariable]: started }, rights);
    if (files.some(startsPods)) await buildOwnImage(sandbox);
  }
  return binaries;
}

/** In the process around the sandbox, if there is one: everything in it has ended, and counts. */
function sayProcessorTime(): void {
  console.log(`processor time ${processorSeconds().toFixed(0)} s, in ${process.uptime().toFixed(0)} s`);
}

/** On the shared cluster, or on one of its own. */
function startsPods(file: string): boolean {
  return /\/test\/(e2e|real-node|consumers|integration\/(node|local-cluster))\//.test(file);
}

/** Asked to stop, the run still tells what it knows: what failed so far, and the totals. */
function untilInterrupted(): AbortSignal {
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort());
  return interrupted.signal;
}

async function* allEvents(
  selections: readonly Selection[],
  cluster: SharedCluster | undefined,
  signal: AbortSignal,
  onRoom: (room: Room) => void,
) {
  const left = selections.filter(({ files }) => files.length > 0);
  for (let first = left.shift(); first && !signal.aborted; first = left.shift()) {
    onRoom(first.room);
    if (first.gitServer) process.env[gitServerVariable] = first.gitServer;
    if (first.room === 'e2e' && cluster && !(await describe(cluster))) return;
    const events = eventsOf(first, signal);
    const beside = left[0]?.isBeside && left[0].room === first.room ? left.shift() : undefined;
    // It runs from now on, and is shown when the other has ended: a reader sees one file after the other.
    const later = beside && Array.fromAsync(eventsOf(beside, signal));
    yield* first.gitServer ? named(events, first.gitServer) : events;
    yield* (await later) ?? [];
    if (first.gitServer) delete process.env[gitServerVariable];
  }
}

function eventsOf({ room, files, pattern, sideBySide }: Selection, signal: AbortSignal): AsyncIterable<unknown> {
  const notes = process.env[notesVariable];
  const groups = room === 'unit' && !pattern && notes !== undefined ? unitGroups(files, notes) : undefined;
  const events = run({
    files: groups?.map(({ entry }) => entry) ?? [...files],
    concurrency: sideBySide,
    timeout: timeouts[room],
    signal,
    execArgv: [
      // A failed test may leave a connection open; that must not hold up the others until the time-out.
      room === 'unit' ? preloaded('untracked-promises') : '--test-force-exit',
      preloaded('note-processor-time'),
      preloaded('load-packages'),
    ],
    ...(pattern && { testNamePatterns: [pattern] }),
  });
  return groups ? perFile(events, groups) : events;
}

/** Tells the tests' own processes where the shared cluster is. `false`, having said why, if it did not start. */
async function describe({ started }: SharedCluster): Promise<boolean> {
  try {
    const { kubeconfigPath, node } = await started();
    process.env.KUBECONFIG = kubeconfigPath;
    if (node) process.env.RATCHET_NODE_SOCKET = node.controlSocket;
    return true;
  } catch (error) {
    console.error(`no end-to-end test can run: ${error instanceof Error ? error.message : error}`);
    return false;
  }
}

/** RATCHET_KEEP_LOGS names a directory that survives the run, e.g. for CI to archive. */
async function keepLogs({ directory }: LocalCluster): Promise<void> {
  const target = process.env.RATCHET_KEEP_LOGS;
  if (!target) return;
  await cp(`${directory}/logs`, target, { recursive: true });
  console.error(`the logs of the local cluster are in ${target}`);
}

const code = await main().catch((error: unknown) => {
  if (error instanceof UsageError) {
    console.error(error.message);
    return 2;
  }
  if (error instanceof ProvisionError) {
    console.error(error.message);
    return 1;
  }
  throw error;
});
// Left to end by itself, Node once ran in its own clean-up for good, after all was told (`Environment::CleanupHandles`
// waits for every request, and one never came back): the run would never have ended.
process.exit(code);
