import { execFile, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { title, titles, type Wanted } from './catalogue.ts';
import { flagsOfChange } from './changed.ts';
import { goNeeded, ProvisionError } from './error.ts';

export interface BuildOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Go says the name of each package that it compiles. */
  readonly onPackage?: () => void;
}

/** Binaries of one module with the same flags: one command builds them, and their links run side by side. */
export function buildsWith(wanted: Wanted): string {
  const changed = wanted.onlyBuilt && wanted.changed ? JSON.stringify(wanted.changed) : '';
  return [wanted.module, wanted.tags, wanted.ldflags, changed].join('\n');
}

/**
 * `go build` from the modules pinned beside this file; their go.sum is the checksum.
 *
 * @param group whose `buildsWith` is the same
 * @returns where each is, below the directory
 * @throws {ProvisionError} with the compiler's last lines, or what to do when there is no Go.
 */
export async function build(
  group: readonly [Wanted, ...Wanted[]],
  directory: string,
  { environment, signal, onPackage }: BuildOptions,
): Promise<readonly string[]> {
  const [first] = group;
  const tags = first.tags === undefined ? [] : ['-tags', first.tags];
  const output = group.length === 1 ? join(directory, first.name) : `${directory}/`;
  const packages = group.map(({ goPackage }) => goPackage);
  const change = first.onlyBuilt && first.changed ? await flagsOfChange(first.module, first.changed, directory) : [];
  const flags = ['-v', '-trimpath', ...change, ...tags, ...withoutDebugging, '-ldflags', first.ldflags];
  const child = spawn('go', ['build', ...flags, '-o', output, ...packages], {
    cwd: resolve(import.meta.dirname, first.module),
    // Its work directory inside ours: whatever way it ends, it is removed. Compilers may let their heaps grow further.
    env: { GOGC: '200', ...environment, CGO_ENABLED: '0', GOWORK: 'off', GOTMPDIR: directory },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
    // What makes Go stop its compilers and clean up.
    killSignal: 'SIGINT',
  });
  let tail = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-4_000);
    // Other lines tell of downloads.
    for (const _ of text.matchAll(/^(?!go: ).*\n/gm)) onPackage?.();
  });
  const outcome = await new Promise<number | string | Error>((settle) => {
    let failure: Error | undefined;
    child.once('error', (error) => {
      failure = error;
      // Without a PID it never started, and there will be no `close`.
      if (child.pid === undefined) settle(error);
    });
    child.once('close', (code, by) => settle(failure ?? code ?? by ?? 'ended'));
  });
  if (outcome === 0) return group.length === 1 ? [output] : packages.map((path) => join(directory, nameOf(path)));
  if (signal.aborted) throw new ProvisionError(`building ${titles(group)} was interrupted`, 'start it again');
  if (outcome instanceof Error) throw noGo(first, outcome);
  throw new ProvisionError(
    `building ${titles(group)} failed (${outcome}):\n${tail.trimEnd()}\n`,
    `mend that, or set ${first.variable} to a binary that you have`,
  );
}

/** How many packages they are made of; infinitely many where Go can't say, which the build will tell. */
export async function packagesOf(
  group: readonly [Wanted, ...Wanted[]],
  { environment, signal }: BuildOptions,
): Promise<number> {
  const tags = group[0].tags === undefined ? [] : ['-tags', group[0].tags];
  const options = {
    cwd: resolve(import.meta.dirname, group[0].module),
    env: { ...environment, CGO_ENABLED: '0', GOWORK: 'off' },
    maxBuffer: 16 * 1024 ** 2,
    signal,
  };
  return await promisify(execFile)(
    'go',
    ['list', '-deps', ...tags, ...group.map(({ goPackage }) => goPackage)],
    options,
  ).then(
    ({ stdout }) => stdout.split('\n').length,
    () => Number.POSITIVE_INFINITY,
  );
}

/** The linker leaves it out of the binary; the compiler takes a tenth of its time to write it. */
const withoutDebugging = ['-gcflags=all=-dwarf=false'];

/** What Go calls the program of a package: the last part of its path that is no major version. */
function nameOf(goPackage: string): string {
  return goPackage.split('/').findLast((part) => !/^v\d+$/.test(part)) ?? goPackage;
}

function noGo(wanted: Wanted, cause: Error): ProvisionError {
  return new ProvisionError(
    `${title(wanted)} must be built, and Go cannot be started (${cause.message})`,
    `install ${goNeeded}, or set ${wanted.variable} to a binary of that version, or put one on PATH`,
    cause,
  );
}
