import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { version } from '../../manifests/release.ts';
import {
  type Blobs,
  blobIn,
  type Descriptor,
  digestOf,
  type ImageConfig,
  indexIn,
  type Manifest,
  put,
  types,
} from './layout.ts';
import { type Entry, tarOf } from './tar.ts';

const architectures = ['amd64', 'arm64'] as const;

/** What our image adds to its base, as the Dockerfile says it. */
export interface Recipe {
  /** The digest of the base: what it is for all platforms. */
  readonly base: string;
  readonly env: readonly string[];
  readonly user: string;
  readonly directory: string;
  readonly entrypoint: readonly string[];
}

export interface ImageOptions {
  readonly recipe: Recipe;
  /** The directory of the base's image layout, with both architectures. */
  readonly base: string;
  /** The files of the layer, the same for both architectures. */
  readonly entries: readonly Entry[];
  /** Like `registry.example.com/etcd-ratchet`: a node that imports the file knows it by this, and the version. */
  readonly name: string;
  readonly outfile: string;
}

/**
 * Writes our image for two architectures as one file (an OCI archive), without docker and without network: a layer on
 * what the base has. Returns its digest, which is the same wherever it is pushed.
 * @throws when the layout has not the base of the recipe, or not for both
 */
export async function packageImage({ recipe, base, entries, name, outfile }: ImageOptions): Promise<string> {
  const { index, digest } = await indexIn(base);
  if (digest !== recipe.base) throw new Error(`${base} is ${digest}, and the Dockerfile builds on ${recipe.base}`);
  const tar = await tarOf(entries);
  const blobs: Blobs = new Map();
  const layer = put(blobs, types.layer, gzipSync(tar));
  const manifests: Descriptor[] = [];
  for (const architecture of architectures) {
    const found = index.manifests.find(({ platform: one }) => one?.os === 'linux' && one.architecture === architecture);
    if (!found?.platform) throw new Error(`${base} has nothing for linux/${architecture}`);
    const manifest = await manifestOn(base, found, recipe, { layer, diff: digestOf(tar), blobs });
    manifests.push({ ...put(blobs, types.manifest, manifest), platform: found.platform });
  }
  const image = put(blobs, types.index, { schemaVersion: 2, mediaType: types.index, manifests });
  const tag = `v${version}`;
  const annotations = { 'io.containerd.image.name': `${name}:${tag}`, 'org.opencontainers.image.ref.name': tag };
  const top = { schemaVersion: 2, mediaType: types.index, manifests: [{ ...image, annotations }] };
  const json = (path: string, content: object) => ({ path, content: Buffer.from(JSON.stringify(content)) });
  const files = [...blobs].map(([key, content]) => ({ path: `blobs/${key.replace(':', '/')}`, content }));
  const layout = [json('oci-layout', { imageLayoutVersion: '1.0.0' }), json('index.json', top), ...files];
  await writeFile(outfile, await tarOf(layout));
  return image.digest;
}

interface Added {
  readonly layer: Descriptor;
  /** The digest of the layer before it was compressed. */
  readonly diff: string;
  readonly blobs: Blobs;
}

/** The manifest for one platform; what it names is added to the blobs. */
async function manifestOn(base: string, found: Descriptor, recipe: Recipe, added: Added): Promise<Manifest> {
  const { mediaType, config, layers } = JSON.parse((await blobIn(base, found)).toString()) as Manifest;
  if (mediaType !== types.manifest) throw new Error(`${base} has a manifest of the type ${mediaType}`);
  for (const one of layers) added.blobs.set(one.digest, await blobIn(base, one));
  const before = JSON.parse((await blobIn(base, config)).toString()) as ImageConfig;
  const after: ImageConfig = {
    ...before,
    config: configOf(before, recipe),
    rootfs: { type: 'layers', diff_ids: [...before.rootfs.diff_ids, added.diff] },
    ...(before.history && { history: [...before.history, { created_by: `etcd-ratchet ${version}: /app` }] }),
  };
  return {
    schemaVersion: 2,
    mediaType: types.manifest,
    config: put(added.blobs, types.config, after),
    layers: [...layers, added.layer],
  };
}

function configOf({ config = {} }: ImageConfig, { env, user, directory, entrypoint }: Recipe) {
  const { Cmd: _, Env = [], Labels, ...others } = config;
  const named = new Set(env.map((one) => one.split('=')[0]));
  return {
    ...others,
    Env: [...Env.filter((one) => !named.has(one.split('=')[0])), ...env],
    Labels: {
      ...Labels,
      'org.opencontainers.image.source': 'https://github.com/etcd-ratchet/etcd-ratchet',
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.version': version,
    },
    User: user,
    WorkingDir: directory,
    Entrypoint: entrypoint,
  };
}

/** Reads what the Dockerfile says of the image that runs. @throws where it says that in a way that is not known here */
export async function recipeIn(checkout: string): Promise<Recipe> {
  const text = await readFile(join(checkout, 'Dockerfile'), 'utf8');
  const [base = ''] = /(?<=^FROM gcr\.io\/distroless\/\S+@)sha256:[0-9a-f]{64}/m.exec(text) ?? [];
  const only = (instruction: string) => {
    const [said, ...others] = [...text.matchAll(new RegExp(`^${instruction} (.*)$`, 'gm'))].map(([, words]) => words);
    if (said === undefined || others.length > 0) throw new Error(`the Dockerfile has not one ${instruction}`);
    return said;
  };
  const env = only('ENV').split(' ');
  if (!env.every((one) => /^[A-Z_]+=[^"'$\\]+$/.test(one))) throw new Error('the Dockerfile has an ENV with quotes');
  const [user, directory] = [only('USER'), [...text.matchAll(/^WORKDIR (.*)$/gm)].at(-1)?.[1] ?? ''];
  return { base, env, user, directory, entrypoint: JSON.parse(only('ENTRYPOINT')) as string[] };
}
