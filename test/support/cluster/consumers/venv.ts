import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory, install, isExecutable } from '../binaries/cache.ts';
import { ProvisionError } from '../binaries/error.ts';
import { withLock } from '../binaries/lock.ts';
import { showProgress } from '../binaries/progress.ts';
import type { ProvideOptions } from '../binaries/provide.ts';

/** Made of requirements.in by `pip-compile --generate-hashes`: each package in one version, with its digests. */
const requirements = join(import.meta.dirname, 'requirements.txt');

/**
 * Patroni and etcd3 for Python, in an environment of their own in the cache. Its programs are called as
 * `python -m`: scripts have the path of the directory in which they were made.
 *
 * @returns the path of its Python. @throws {ProvisionError}
 */
export async function provideVenv(options: ProvideOptions): Promise<string> {
  const environment = options.environment ?? process.env;
  const digest = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 12);
  const path = join(cacheDirectory(environment), `python-consumers-${digest}`);
  const python = join(path, 'bin/python');
  if (await isExecutable(python)) return python;
  const signal = options.signal ?? new AbortController().signal;
  const progress = options.progress ?? showProgress(process.stderr);
  const onWait = (owner: string) => progress.note(`Patroni is being installed by another run (process ${owner})`);
  await withLock(`${path}.lock`, { signal, onWait }, async () => {
    // The process that held the lock before us probably made it.
    if (await isExecutable(python)) return;
    // One whose Python is gone.
    await rm(path, { recursive: true, force: true });
    const make = () => install([path], async (directory) => [await filled(join(directory, 'venv'), signal)]);
    await progress.during('installing Patroni and etcd3 for Python', undefined, make);
  });
  return python;
}

async function filled(directory: string, signal: AbortSignal): Promise<string> {
  const run = promisify(execFile);
  try {
    await run('python3', ['-m', 'venv', directory], { signal, timeout: 120_000 });
    const pip = ['-m', 'pip', 'install', '--quiet', '--require-hashes', '-r', requirements];
    await run(join(directory, 'bin/python'), pip, { signal, timeout: 600_000, maxBuffer: 16 * 1024 * 1024 });
    return directory;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new ProvisionError(`Patroni can't be had from PyPI (${said})`, 'give pip its index (PIP_INDEX_URL)');
  }
}
