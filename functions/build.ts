import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build as bundle } from 'esbuild';

const entryPoints = ['tick'];

const checkout = join(import.meta.dirname, '..');

/** Packages in CommonJS call `require` for Node's own modules, which an ES module does not have. */
const requireForPackages =
  "import { createRequire as nodeRequire } from 'node:module';const require = nodeRequire(import.meta.url);";

if (import.meta.main) {
  const { values } = parseArgs({ options: { outdir: { type: 'string' } } });
  await build(values.outdir);
}

/**
 * Bundles every entry point into `outdir`, which is `/app` of the image; `dist` of the checkout unless given.
 *
 * ESM with shared chunks: what an entry point imports lazily stays a file of its own, and a pass that has nothing to do
 * never reads it. Identifiers keep their names, so that a stack trace in a log means something.
 *
 * @throws when a source does not build; esbuild has printed where.
 */
export async function build(outdir = join(checkout, 'dist')): Promise<void> {
  // Chunks are named after their contents: those of earlier builds would pile up.
  await rm(join(outdir, 'chunks'), { recursive: true, force: true });
  await bundle({
    absWorkingDir: checkout,
    entryPoints: entryPoints.map((name) => `functions/${name}.ts`),
    outdir,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'linked',
    logLevel: 'warning',
    banner: { js: requireForPackages },
  });
  // Without it, Node would try each file as CommonJS first.
  await writeFile(join(outdir, 'package.json'), '{ "type": "module" }\n');
}
