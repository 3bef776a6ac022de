import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Where test processes find them: by specifier, as JSON. */
export const packagesVariable = 'RATCHET_PACKAGES';

const checkout = resolve(import.meta.dirname, '../..');
/** Of 400 modules, which nearly every test file imports: to find and link them takes 0.1 s of each process. */
const name = 'typebox';

/**
 * The package with everything that it exports, in a few modules: as esbuild puts it into what runs in a cluster.
 *
 * @returns the URL of each specifier
 */
export async function bundlePackages(cache: string): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(join(checkout, 'node_modules', name, 'package.json'), 'utf8');
  const { version, exports } = JSON.parse(text) as { readonly version: string; readonly exports: object };
  const directory = join(cache, `${name}-${version}`);
  const entries = Object.fromEntries(
    Object.keys(exports).map((path) => [path.replace('.', name), path === '.' ? 'index' : path.slice(2)]),
  );
  if (!existsSync(directory)) await bundleInto(directory, entries);
  return Object.fromEntries(
    Object.entries(entries).map(([specifier, entry]) => [
      specifier,
      pathToFileURL(join(directory, `${entry}.mjs`)).href,
    ]),
  );
}

/** Another run may do the same at this moment: the directory is there with all of it, or not at all. */
async function bundleInto(directory: string, entries: Readonly<Record<string, string>>): Promise<void> {
  const { build } = await import('esbuild');
  await mkdir(resolve(directory, '..'), { recursive: true });
  const making = await mkdtemp(`${directory}-`);
  await build({
    absWorkingDir: checkout,
    entryPoints: Object.entries(entries).map(([specifier, out]) => ({ in: specifier, out })),
    outdir: making,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'warning',
  });
  await rename(making, directory).catch(async (error: unknown) => {
    await rm(making, { recursive: true });
    if (!existsSync(directory)) throw error;
  });
}
