import { join } from 'node:path';
import { build } from './build.ts';
import { cacheDirectory, cached, cachePath, install } from './cache.ts';
import { title, type Wanted } from './catalogue.ts';
import { download, isReachable, releaseOf } from './download.ts';
import { ProvisionError } from './error.ts';
import { findInstalled } from './found.ts';
import { withLock } from './lock.ts';
import { type Progress, showProgress } from './progress.ts';

export interface ProvideOptions {
  readonly environment?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
  readonly progress?: Progress;
  /** Whether to ask for official releases at all. */
  readonly downloads?: boolean;
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

  settled.progress.note(`${missing.length} of ${wanted.length} binaries are missing; they are kept in ${directory}`);
  const reachable = await reachableHosts(missing, settled);
  // One after the other: Go uses every core by itself, and each build leaves the next one less to do.
  for (const one of missing) paths.set(one, await fill(directory, one, reachable, settled));
  return paths;
}

function settle(options: ProvideOptions): Settled {
  return {
    environment: options.environment ?? process.env,
    signal: options.signal ?? new AbortController().signal,
    progress: options.progress ?? showProgress(process.stderr),
    downloads: options.downloads ?? true,
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

async function fill(
  directory: string,
  wanted: Wanted,
  reachable: ReadonlySet<string>,
  settled: Settled,
): Promise<string> {
  const path = cachePath(directory, wanted);
  const lock = join(directory, 'locks', `${title(wanted).replace(' ', '-')}.lock`);
  const onWait = (owner: string) => {
    settled.progress.note(`${title(wanted)} is being made by another run (process ${owner}); waiting for it`);
  };
  return await withLock(lock, { signal: settled.signal, onWait }, async () => {
    // Whoever held the lock before us probably made it.
    const there = await cached(directory, wanted);
    if (there !== undefined) return there;
    await install(path, (file) => make(wanted, file, reachable, settled));
    return path;
  });
}

async function make(wanted: Wanted, file: string, reachable: ReadonlySet<string>, settled: Settled): Promise<void> {
  const { progress, signal } = settled;
  const release = releaseOf(wanted);
  if (release !== undefined && reachable.has(new URL(release.url).host)) {
    const failure = await progress
      .during(`downloading ${title(wanted)}`, undefined, () => download(release, file, signal))
      .then(() => undefined)
      .catch((error: unknown) => String(error));
    if (failure === undefined) return;
    if (signal.aborted) throw new ProvisionError(`downloading ${title(wanted)} was interrupted`, 'start it again');
    progress.note(`${failure}; building it instead`);
  }
  await progress.during(`building ${title(wanted)}`, wanted.buildSeconds, () => build(wanted, file, settled));
}

/** The path of one of them. */
export function pathIn(paths: ReadonlyMap<Wanted, string>) {
  return (name: Wanted['name'], version: string): string => {
    for (const [wanted, found] of paths) if (wanted.name === name && wanted.version === version) return found;
    throw new Error(`no path was provided for ${name} ${version}`);
  };
}
