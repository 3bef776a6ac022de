import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type BuildOptions, build as bundle, type Metafile, type Plugin } from 'esbuild';

/**
 * Lazy imports that ticks do take: all of them, and those that look at a cluster in full. They, and all that they
 * import, come in few files. A bundler makes a file of whatever two of its many entries share, 135 for one tick, and
 * Node takes about a third of a millisecond for each.
 */
const loaded = {
  'every-tick': [
    'functions/tick.ts',
    'functions/tick/run-tick.ts',
    'functions/checks/check-pass.ts',
    'functions/checks/shared-forges.ts',
    'gitops/forges/error.ts',
    'gitops/forges/forges.ts',
    'gitops/forges/git-tokens.ts',
    'gitops/git/credentials.ts',
    'gitops/git/error.ts',
    'manifests/egress/egress.ts',
    'node_modules/pino/pino.js',
    'reconcile/clients/member-health.ts',
    'reconcile/cluster/pass.ts',
  ],
  'full-look': [
    'reconcile/cluster/full-look.ts',
    'reconcile/clients/etcd.ts',
    'reconcile/clients/served-fingerprint.ts',
    'reconcile/clients/etcd3.ts',
  ],
} as const;

interface Setting {
  /** Of the chunks, from the root. */
  readonly directory: string;
  /** Entry points that load some of it, by kind: a file of a kind holds nothing that none of its programs needs. */
  readonly others: Readonly<Record<string, readonly string[]>>;
  readonly options: BuildOptions & { readonly banner: { readonly js: string } };
}

/** A chunk, and the file that it goes into. */
interface Joined {
  readonly name: string;
  readonly file: string;
  /** What it exports, and by a name that no other chunk's export has. */
  readonly exported: readonly (readonly [own: string, alias: string])[];
}

/**
 * Joins the chunks that ticks load. An import of one of them gets the same modules as ever: where the chunk was, there
 * is a line that hands them on.
 *
 * @throws when what is said to be loaded is in no chunk by itself: then nothing imports it lazily any more
 */
export async function joinChunks({ outputs }: Metafile, { directory, others, options }: Setting): Promise<void> {
  const chunks = joinedIn(outputs, others);
  const files = new Set(chunks.map(({ file }) => file));
  await bundle({
    ...options,
    // Its hashes are of paths from here: the same wherever the bundle is made.
    absWorkingDir: directory,
    // What stands for other modules is in the chunks by now.
    alias: {},
    plugins: [joining(chunks, { directory, banner: options.banner.js })],
    entryPoints: [...files].map((file) => ({ in: `joined:${file}`, out: file })),
    chunkNames: 'joined-[hash]',
    outdir: directory,
  });
  for (const { name, file, exported } of chunks)
    await writeFile(
      join(directory, name),
      handingOn(
        file,
        exported.map(([own, alias]) => `${alias} as ${own}`),
      ),
    );
}

function joinedIn(outputs: Metafile['outputs'], others: Setting['others']): readonly Joined[] {
  const chunksOf = (entries: readonly string[]) =>
    withImports(
      outputs,
      entries.map((one) => chunkOf(outputs, one)),
    );
  const needed = Object.entries(others).map(([kind, entries]) => [`-${kind}`, chunksOf(entries)] as const);
  const found = new Map<string, Joined>();
  for (const [level, entries] of Object.entries(loaded))
    for (const path of chunksOf(entries)) {
      const name = basename(path);
      if (found.has(name)) continue;
      const kind = needed.findLast(([, all]) => all.has(path))?.[0] ?? '';
      const prefix = name.replaceAll(/\W/g, '_');
      const exported = (outputs[path]?.exports ?? []).map((own) => [own, `${prefix}$${own}`] as const);
      found.set(name, { name, file: `${level}${kind}`, exported });
    }
  return [...found.values()];
}

function joining(
  chunks: readonly Joined[],
  { directory, banner }: { readonly directory: string; readonly banner: string },
): Plugin {
  const names = new Set(chunks.map(({ name }) => `./${name}`));
  const entryOf = (wanted: string) =>
    chunks
      .filter(({ file }) => file === wanted)
      .map(({ name, exported }) =>
        handingOn(
          name.replace(/\.js$/, ''),
          exported.map(([own, alias]) => `${own} as ${alias}`),
        ),
      );
  return {
    name: 'joined',
    setup(build) {
      build.onResolve({ filter: /^joined:/ }, ({ path }) => ({
        path: path.slice('joined:'.length),
        namespace: 'joined',
      }));
      build.onLoad({ filter: /./, namespace: 'joined' }, ({ path }) => ({
        contents: entryOf(path).join(''),
        resolveDir: directory,
      }));
      // A lazy import would be an entry of its own again: it finds the line in place of the chunk.
      build.onResolve({ filter: /^\.\// }, ({ path, kind }) =>
        kind !== 'dynamic-import' && names.has(path) ? undefined : { path, external: true },
      );
      // Each has the banner already, and a file needs it once.
      build.onLoad({ filter: /\.js$/, namespace: 'file' }, async ({ path }) => ({
        contents: (await readFile(path, 'utf8')).replace(banner, ''),
      }));
    },
  };
}

function handingOn(file: string, exported: readonly string[]): string {
  return exported.length > 0 ? `export { ${exported.join(', ')} } from './${file}.js';\n` : `import './${file}.js';\n`;
}

function chunkOf(outputs: Metafile['outputs'], entry: string): string {
  // Packages may lie elsewhere, behind a link.
  const isIt = (path = '') => path === entry || path.endsWith(`/${entry}`);
  const found = Object.entries(outputs).find(([, { entryPoint }]) => isIt(entryPoint))?.[0];
  if (found !== undefined) return found;
  throw new Error(`${entry} is in no chunk of its own: it is no entry point, and nothing imports it lazily`);
}

/** The chunks, and all that they import at once. */
function withImports(outputs: Metafile['outputs'], from: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const add = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const one of outputs[path]?.imports ?? []) if (one.kind === 'import-statement' && !one.external) add(one.path);
  };
  from.forEach(add);
  return seen;
}
