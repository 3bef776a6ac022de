import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type BuildOptions, build as bundle } from 'esbuild';
import { joinChunks } from './bundled/joined.ts';
import { plugins } from './bundled/plugins.ts';
import { type Entry, entryOf, oldestNode } from './entry.ts';

const entryPoints: readonly Entry[] = ['tick', 'serve', 'set-aside', 'read-log', 'backup', 'reboot', 'look', 'plugin'];

/** Where a repository is read: beside the chunk that starts it (functions/read/reader.ts). */
const worker = { in: 'functions/read/worker.ts', out: 'read-worker' };

/** Programs that load some of what ticks do. The server's passes load all of it. */
const others = {
  elsewhere: ['functions/backup.ts', 'functions/plugin.ts', worker.in],
  small: ['functions/set-aside.ts', 'functions/reboot.ts'],
  smaller: ['functions/read-log.ts'],
  smallest: ['functions/look.ts'],
};

const checkout = join(import.meta.dirname, '..');
const http = join(import.meta.dirname, 'bundled/node-http.ts');

/** For packages in CommonJS. Built-in modules come without evaluating all their exports (bundled/node-http.ts). */
const commonJs =
  "import { createRequire as nodeRequire } from 'node:module';" +
  'const require = (name) => process.getBuiltinModule(name) ?? nodeRequire(import.meta.url)(name);' +
  'const __dirname = import.meta.dirname;';

/** How everything that runs in a cluster is bundled; a measurement bundles what it measures alike. */
export const bundling = {
  absWorkingDir: checkout,
  bundle: true,
  platform: 'node',
  target: `node${oldestNode}`,
  format: 'esm',
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  alias: { 'node:http': http, http },
  minifySyntax: true,
  minifyWhitespace: true,
  // Node shows the line of an uncaught error: it should not be the whole file.
  lineLimit: 160,
  legalComments: 'linked',
  logLevel: 'warning',
  banner: { js: commonJs },
  plugins,
} as const satisfies BuildOptions;

if (import.meta.main) {
  const { values } = parseArgs({ options: { outdir: { type: 'string' }, materials: { type: 'boolean' } } });
  await build(values.outdir, { withMaterials: values.materials ?? false });
}

/**
 * Bundles every entry point into `directory`: `/app` of the image, or `dist` of the checkout. Shared chunks keep lazy
 * imports lazy, so an idle pass never reads them; names stay, so that stack traces in logs mean something.
 * @throws when a source does not build; esbuild has printed where
 */
export async function build(directory = join(checkout, 'dist'), { withMaterials = false } = {}): Promise<void> {
  const outdir = resolve(directory);
  const told = withMaterials ? await import('./materials.ts') : undefined;
  // Chunks are named after their contents: those of earlier builds would pile up.
  await rm(join(outdir, 'chunks'), { recursive: true, force: true });
  const all = [...plugins, ...(told ? [told.billOfMaterials()] : [])];
  const { metafile } = await bundle({
    ...bundling,
    plugins: all,
    entryPoints: [...entryPoints.map((name) => ({ in: `functions/${name}.ts`, out: name })), worker],
    entryNames: 'chunks/[name]',
    outdir,
    metafile: true,
  });
  await joinChunks(metafile, { directory: join(outdir, 'chunks'), others, options: bundling });
  await told?.completeBill(outdir, join(checkout, 'node_modules'));
  await told?.writeNotices(outdir);
  for (const name of entryPoints) await writeFile(join(outdir, `${name}.js`), entryOf(name));
  // Without it, Node would try each file as CommonJS first.
  const facts = { type: 'module', engines: { node: `>=${oldestNode}` } };
  await writeFile(join(outdir, 'package.json'), `${JSON.stringify(facts)}\n`);
}
