import { execFile } from 'node:child_process';
import { cp, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { cacheDirectory, install, isExecutable } from './cache.ts';
import { ProvisionError } from './error.ts';
import { withLock } from './lock.ts';
import { showProgress } from './progress.ts';
import type { ProvideOptions } from './provide.ts';

const pinned = resolve(import.meta.dirname, 'azurite');

/**
 * Azurite, bundled into one file that Node runs: from `RATCHET_AZURITE`, the cache, or npm. Its dependencies are none
 * of ours: they are 400. The module replaces those for databases and telemetry by an empty package.
 *
 * @throws {ProvisionError}
 */
export async function provideAzurite(options: ProvideOptions): Promise<string> {
  const environment = options.environment ?? process.env;
  if (environment.RATCHET_AZURITE) return environment.RATCHET_AZURITE;
  const { dependencies } = JSON.parse(await readFile(join(pinned, 'package.json'), 'utf8')) as {
    readonly dependencies: { readonly azurite: string };
  };
  const path = join(cacheDirectory(environment), `azurite-${dependencies.azurite}.js`);
  if (await isExecutable(path)) return path;
  const signal = options.signal ?? new AbortController().signal;
  const progress = options.progress ?? showProgress(process.stderr);
  const onWait = (owner: string) => progress.note(`azurite is being made by another run (process ${owner})`);
  await withLock(`${path}.lock`, { signal, onWait }, async () => {
    // The process that held the lock before us probably made it.
    if (await isExecutable(path)) return;
    const make = () => install([path], async (directory) => [await bundled(directory, environment, signal)]);
    await progress.during('bundling azurite', undefined, make);
  });
  return path;
}

async function bundled(directory: string, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string> {
  const file = join(directory, 'azurite.js');
  const args = ['ci', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund'];
  try {
    await cp(pinned, directory, { recursive: true });
    await promisify(execFile)('npm', args, { cwd: directory, env, signal, timeout: 300_000 });
    await build({
      entryPoints: [join(directory, 'node_modules/azurite/dist/src/blob/main.js')],
      outfile: file,
      bundle: true,
      platform: 'node',
      external: ['pg-hstore'],
      logLevel: 'error',
    });
    return file;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new ProvisionError(
      `azurite can't be had from npm (${said})`,
      'give npm its registry, or set RATCHET_AZURITE to a bundle of it that you have',
    );
  }
}
