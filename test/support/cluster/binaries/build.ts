import { spawn } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { title, type Wanted } from './catalogue.ts';
import { ProvisionError } from './error.ts';

export interface BuildOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/**
 * `go build` from the modules pinned beside this file; their go.sum is the checksum.
 *
 * @throws {ProvisionError} with the compiler's last lines, or what to do when there is no Go.
 */
export async function build(wanted: Wanted, file: string, { environment, signal }: BuildOptions): Promise<void> {
  const tags = wanted.tags === undefined ? [] : ['-tags', wanted.tags];
  const child = spawn('go', ['build', '-trimpath', ...tags, '-ldflags', wanted.ldflags, '-o', file, wanted.goPackage], {
    cwd: resolve(import.meta.dirname, wanted.module),
    // Its work directory inside ours: whatever way it ends, it is removed.
    env: { ...environment, CGO_ENABLED: '0', GOWORK: 'off', GOTMPDIR: dirname(file) },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
    // What makes Go stop its compilers and clean up.
    killSignal: 'SIGINT',
  });
  let tail = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-4_000);
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
  if (outcome === 0) return;
  if (signal.aborted) throw new ProvisionError(`building ${title(wanted)} was interrupted`, 'start it again');
  if (outcome instanceof Error) throw noGo(wanted, outcome);
  throw new ProvisionError(
    `building ${title(wanted)} failed (${outcome}):\n${tail.trimEnd()}\n`,
    `mend that, or set ${wanted.variable} to a binary that you have`,
  );
}

function noGo(wanted: Wanted, cause: Error): ProvisionError {
  return new ProvisionError(
    `${title(wanted)} must be built, and Go cannot be started (${cause.message})`,
    `install Go 1.26 or newer, or set ${wanted.variable} to a binary of that version, or put one on PATH`,
    cause,
  );
}
