import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { stringify } from 'yaml';
import { publishedImage, version } from '../manifests/release.ts';
import { build } from './build.ts';
import { materials } from './materials.ts';
import { packageChart } from './package-chart.ts';
import { packagePlugin } from './package-plugin.ts';
import { packageImage, type Recipe, recipeIn } from './shipping/image.ts';
import type { Platform } from './shipping/nodes.ts';
import { packageSingleFiles } from './shipping/single-file.ts';
import { entriesBelow } from './shipping/tar.ts';

const checkout = join(import.meta.dirname, '..');

/** What a release is installed with, each as one file: `kubectl apply --server-side -f`. */
const installations = {
  'etcd-ratchet.yaml': 'install',
  'etcd-ratchet-namespaced.yaml': 'install/namespaced',
  'crds.yaml': 'install/crds',
} as const;

export interface ReleaseOptions {
  readonly outdir: string;
  /**
   * Like `registry.example.com/etcd-ratchet@sha256:…`: what was pushed, and not a name that can be moved. With a base
   * the name alone: the image is built, and its digest is known before it is pushed.
   */
  readonly image: string;
  /** The base of the image, for both architectures: the directory of an OCI image layout. */
  readonly base?: string;
  /** Where people will get the files from. */
  readonly url: string;
  /** Path or name of a kubectl: it renders kustomizations. */
  readonly kubectl: string;
  /** Of the single files; all of them unless named. */
  readonly platforms?: readonly Platform[];
  /** What the image is built by; else what the Dockerfile says. */
  readonly recipe?: Recipe;
}

/**
 * Makes every file of a release and returns their names: the same bytes from the same sources, wherever and whenever.
 * Network is needed once, for the Nodes of the single files. @throws when the image is not named by digest, this
 * version has no notes, or something can't be built
 */
export async function makeRelease(options: ReleaseOptions): Promise<readonly string[]> {
  const { outdir, url, kubectl, platforms: only } = options;
  const built = options.base === undefined ? byDigest(options.image) : byName(options.image);
  const notes = await notesOf(version);
  await rm(outdir, { recursive: true, force: true });
  await mkdir(outdir, { recursive: true });
  const { name, digest } = await withMaterials(outdir, async (app) => ({
    name: built.name,
    digest: built.digest ?? (await addImage(app, built.name, options)),
  }));
  for (const [file, directory] of Object.entries(installations)) {
    await writeFile(join(outdir, file), await render(kubectl, directory, { name, digest }));
  }
  await packagePlugin(outdir);
  await rm(join(outdir, 'kubectl-ratchet'), { recursive: true });
  await packageSingleFiles({ outdir, url, ...(only && { only }) });
  await packageChart(outdir);
  await writeFile(join(outdir, 'RELEASE-NOTES.md'), notes);
  const files = (await readdir(outdir)).toSorted();
  await writeFile(join(outdir, 'SHA256SUMS'), await sumsOf(outdir, files));
  return [...files, 'SHA256SUMS'];
}

interface Named {
  readonly name: string;
  readonly digest?: string;
}

function byName(image: string): Named {
  if (!/^[a-z0-9][a-z0-9./_-]*(:[0-9]+\/[a-z0-9./_-]+)?$/.test(image))
    throw new Error(`--image is ${JSON.stringify(image)}: with --base give the name alone, without tag and digest`);
  return { name: image };
}

function byDigest(image: string): Named {
  const [, name, digest] = /^([a-z0-9][a-z0-9./:_-]*)@(sha256:[0-9a-f]{64})$/.exec(image) ?? [];
  if (name === undefined || digest === undefined)
    throw new Error(`--image is ${JSON.stringify(image)}: give what was pushed, as NAME@sha256:DIGEST`);
  return { name, digest };
}

async function notesOf(which: string): Promise<string> {
  const page = `docs/releases/v${which}.md`;
  return readFile(join(checkout, page), 'utf8').catch((cause: unknown) => {
    throw new Error(`${page} is missing: write what people must know of v${which}`, { cause });
  });
}

/** By a kustomization of its own, as a person would write one. */
async function render(
  kubectl: string,
  directory: string,
  { name, digest }: { readonly name: string; readonly digest: string },
): Promise<string> {
  // Kustomize resolves links before it follows what is relative.
  const own = await realpath(await mkdtemp(join(tmpdir(), 'etcd-ratchet-release-')));
  try {
    const kustomization = {
      resources: [relative(own, join(checkout, 'manifests', directory))],
      images: [{ name: publishedImage.split(':')[0], newName: name, digest }],
    };
    await writeFile(join(own, 'kustomization.yaml'), stringify(kustomization));
    const { stdout } = await promisify(execFile)(kubectl, ['kustomize', own], { maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } finally {
    await rm(own, { recursive: true });
  }
}

/** Bundles what runs, and keeps what a release says of it. */
async function withMaterials<T>(outdir: string, use: (app: string) => Promise<T>): Promise<T> {
  const app = join(outdir, 'app');
  await build(app, { withMaterials: true });
  for (const file of Object.values(materials)) await copyFile(join(app, file), join(outdir, file));
  const made = await use(app);
  await rm(app, { recursive: true });
  return made;
}

/** Resolves with the digest of the image. */
async function addImage(app: string, name: string, { outdir, base = '', recipe }: ReleaseOptions): Promise<string> {
  const license = { path: 'app/LICENSE', content: await readFile(join(checkout, 'LICENSE')) };
  return await packageImage({
    recipe: recipe ?? (await recipeIn(checkout)),
    base,
    entries: [{ path: 'app/' }, ...(await entriesBelow(app, 'app/')), license],
    name,
    outfile: join(outdir, `etcd-ratchet-image-${version}.tar`),
  });
}

async function sumsOf(directory: string, files: readonly string[]): Promise<string> {
  const lines = files.map(async (file) => {
    const sum = createHash('sha256').update(await readFile(join(directory, file)));
    return `${sum.digest('hex')}  ${file}\n`;
  });
  return (await Promise.all(lines)).join('');
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      image: { type: 'string' },
      base: { type: 'string' },
      url: { type: 'string' },
      outdir: { type: 'string', default: join(checkout, 'dist/release') },
      kubectl: { type: 'string', default: 'kubectl' },
    },
  });
  const { image, url, outdir, kubectl, base } = values;
  if (image === undefined || url === undefined)
    throw new Error(
      'usage: npm run release -- (--image NAME --base DIR | --image NAME@sha256:DIGEST) --url URL [--outdir DIR] [--kubectl PATH]',
    );
  const files = await makeRelease({ image, url, outdir, kubectl, ...(base !== undefined && { base }) });
  for (const file of files) console.log(join(outdir, file));
}
