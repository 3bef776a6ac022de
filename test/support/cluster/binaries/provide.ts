import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { processorSeconds } from '../../processor-time.ts';
import { build, buildsWith, packagesOf } from './build.ts';
import { cacheDirectory, cached, cachePath, install } from './cache.ts';
import { title, titles, type Wanted } from './catalogue.ts';
import { download, isReachable, releaseOf } from './download.ts';
import { ProvisionError } from './error.ts';
import { type Estimate, estimateOf } from './estimate.ts';
import { findInstalled } from './found.ts';
import { withLock } from './lock.ts';
import { clock, type Progress, showProgress } from './progress.ts';

export interface ProvideOptions {
  readonly environment?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
  readonly progress?: Progress;
  /** Whether to ask for official releases at all. */
  readonly downloads?: boolean;
  /** `false`: what would have to be built is refused, with the words of an error. */
  readonly builds?: boolean;
}

type Settled = Required<ProvideOptions>;

/**
 * Every binary from the first source that has it: installed, cached, downloaded, built.
 *
 * @throws {ProvisionError} naming the first that cannot be had, and what to do.
 */
export async function provide(
  wanted: readonly Wanted[],
  options: ProvideOptions,
): Promise<ReadonlyMap<Wanted, string>> {
  const settled = settle(options);
  const directory = cacheDirectory(settled.environment);
  const paths = new Map(await findInstalled(wanted, settled.environment));
  const missing: Wanted[] = [];
  for (const one of wanted) {
    if (paths.has(one)) continue;
    const path = await cached(directory, one);
    if (path === undefined) missing.push(one);
    else paths.set(one, path);
  }
  if (missing.length === 0) return paths;

  if (!settled.builds) refuseBuilds(missing);
  settled.progress.note(`${missing.length} of ${wanted.length} binaries are missing; they are kept in ${directory}`);
  const reachable = await reachableHosts(missing, settled);
  const groups = [...Map.groupBy(missing, buildsWith).values()];
  const course = { ...settled, directory, reachable, estimate: estimateOf(groups) };
  const sayFloor = startFloor(settled.progress);
  // One after the other: Go uses every core by itself, and each build leaves the next one less to do.
  for (const group of groups) await fill(group, course);
  sayFloor();
  for (const one of missing) paths.set(one, cachePath(directory, one));
  return paths;
}

/** The result says how long it took since, and what no order of the builds could make shorter on this machine. */
function startFloor(progress: Progress): () => void {
  const [started, used] = [performance.now(), processorSeconds()];
  return () => {
    const took = (performance.now() - started) / 1000;
    const busy = processorSeconds() - used;
    const processors = availableParallelism();
    progress.note(
      `made in ${clock(took)}, with ${busy.toFixed(0)} s of processor time: ` +
        `${processors} processors need at least ${clock(busy / processors)}`,
    );
  };
}

/** @throws {ProvisionError} where one has no release to be downloaded */
function refuseBuilds(missing: readonly Wanted[]): void {
  const unbuilt = missing.filter((one) => releaseOf(one) === undefined);
  if (unbuilt.length === 0) return;
  throw new ProvisionError(`${titles(unbuilt)} is not built yet`, 'npm run playground builds it');
}

function settle(options: ProvideOptions): Settled {
  return {
    environment: options.environment ?? process.env,
    signal: options.signal ?? new AbortController().signal,
    progress: options.progress ?? showProgress(process.stderr),
    downloads: options.downloads ?? true,
    builds: options.builds ?? true,
  };
}

/** Asked once per host and at once, so that who is offline waits for one time-out and not for ten. */
async function reachableHosts(
  missing: readonly Wanted[],
  { signal, downloads }: Settled,
): Promise<ReadonlySet<string>> {
  if (!downloads) return new Set();
  const perHost = new Map(
    missing
      .map(releaseOf)
      .filter((release) => release !== undefined)
      .map((release) => [new URL(release.url).host, release]),
  );
  const hosts = await Promise.all(
    [...perHost].map(async ([host, release]) => ((await isReachable(release, signal)) ? [host] : [])),
  );
  return new Set(hosts.flat());
}

interface Course extends Settled {
  readonly directory: string;
  readonly reachable: ReadonlySet<string>;
  readonly estimate: Estimate;
}

/** All of a group, by whichever source each of them has. */
async function fill(group: readonly Wanted[], course: Course): Promise<void> {
  await withLocks(group, course, async () => {
    const open: Wanted[] = [];
    // The process that held the lock before us probably made it.
    for (const one of group)
      if ((await cached(course.directory, one)) === undefined && !(await downloaded(one, course))) open.push(one);
    const [first, ...others] = open;
    if (first !== undefined) await built([first, ...others], course);
    course.estimate.done(group);
  });
}

/** Every run takes them in the order of the catalogue. */
async function withLocks(group: readonly Wanted[], course: Course, work: () => Promise<void>): Promise<void> {
  const [first, ...others] = group;
  if (first === undefined) return await work();
  const { directory, progress, signal } = course;
  const lock = join(directory, 'locks', `${title(first).replace(' ', '-')}.lock`);
  const onWait = (owner: string) => {
    progress.note(`${title(first)} is being made by another run (process ${owner}); waiting for it`);
  };
  await withLock(lock, { signal, onWait }, () => withLocks(others, course, work));
}

async function downloaded(wanted: Wanted, { directory, reachable, progress, signal }: Course): Promise<boolean> {
  const release = releaseOf(wanted);
  if (release === undefined || !reachable.has(new URL(release.url).host)) return false;
  try {
    await progress.during(`downloading ${title(wanted)}`, undefined, () =>
      install([cachePath(directory, wanted)], async (temporary) => {
        const file = join(temporary, wanted.name);
        await download(release, file, signal);
        return [file];
      }),
    );
    return true;
  } catch (error) {
    if (signal.aborted) throw new ProvisionError(`downloading ${title(wanted)} was interrupted`, 'start it again');
    progress.note(`${error}; building it instead`);
    return false;
  }
}

async function built(group: readonly [Wanted, ...Wanted[]], course: Course): Promise<void> {
  const { directory, environment, signal, estimate } = course;
  await course.progress.during(`building ${titles(group)}`, estimate.left, () =>
    install(
      group.map((one) => cachePath(directory, one)),
      async (temporary) => {
        const options = { environment, signal };
        const onPackage = estimate.compiled(group, await packagesOf(group, options));
        return await build(group, temporary, { ...options, onPackage });
      },
    ),
  );
}

/** The path of one of them. */
export function pathIn(paths: ReadonlyMap<Wanted, string>) {
  return (name: Wanted['name'], version: string): string => {
    for (const [wanted, found] of paths) if (wanted.name === name && wanted.version === version) return found;
    throw new Error(`no path was provided for ${name} ${version}`);
  };
}
