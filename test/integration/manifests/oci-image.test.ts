/** The image as `npm run release -- --base` writes it, unpacked and run as a runtime would. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { build } from '../../../functions/build.ts';
import { packageImage, type Recipe, recipeIn } from '../../../functions/shipping/image.ts';
import { type Blobs, blobIn, type ImageConfig, indexIn, type Manifest } from '../../../functions/shipping/layout.ts';
import { entriesBelow } from '../../../functions/shipping/tar.ts';
import { version } from '../../../manifests/release.ts';
import { baseLayout, manifestFor, writeLayout } from '../../support/image/base.ts';
import { checkout } from '../../unit/docs/pages.ts';

const run = promisify(execFile);
const scratch = await mkdtemp(join(tmpdir(), 'image-'));
after(() => rm(scratch, { recursive: true }));
const [base, app, layout] = ['base', 'app', 'layout'].map((name) => join(scratch, name)) as [string, string, string];
const outfile = join(scratch, 'image.tar');
const name = 'registry.example.com/etcd-ratchet';
let recipe: Recipe;
let digest: string;

before(async () => {
  recipe = { ...(await recipeIn(checkout)), base: await baseLayout(base) };
  await build(app, { withMaterials: true });
  digest = await packageImage({ recipe, base, entries: await entriesBelow(app, 'app/'), name, outfile });
  await mkdir(layout);
  await run('tar', ['-xf', outfile, '-C', layout]);
});

async function read<T>(descriptor: { readonly digest: string }): Promise<T> {
  return JSON.parse((await blobIn(layout, descriptor)).toString()) as T;
}

async function imageFor(architecture: string) {
  const { index } = await indexIn(layout);
  const found = index.manifests.find(({ platform }) => platform?.architecture === architecture) ?? assert.fail();
  const manifest = await read<Manifest>(found);
  return { manifest, config: await read<ImageConfig>(manifest.config) };
}

test('it is the image of the digest that was told, with a name that a node takes it in by', async () => {
  assert.equal((await indexIn(layout)).digest, digest);
  const { manifests } = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8'));
  assert.equal(manifests[0].annotations['io.containerd.image.name'], `${name}:v${version}`);
});

test('each architecture has its own base, one layer more, and that is the same', async () => {
  const [amd64, arm64] = [await imageFor('amd64'), await imageFor('arm64')];
  assert.notEqual(amd64.manifest.layers[0]?.digest, arm64.manifest.layers[0]?.digest);
  for (const { manifest, config } of [amd64, arm64]) {
    assert.equal(manifest.layers.length, 2);
    assert.equal(config.rootfs.diff_ids.length, 2);
    for (const one of [manifest.config, ...manifest.layers]) assert.equal((await blobIn(layout, one)).length, one.size);
  }
  assert.deepEqual(amd64.manifest.layers[1], arm64.manifest.layers[1]);
  assert.deepEqual([amd64.config.architecture, arm64.config.architecture], ['amd64', 'arm64']);
});

test('what runs in it, and as which user, is what the Dockerfile says', async () => {
  const { config = {} } = (await imageFor('arm64')).config;
  assert.deepEqual(config.Entrypoint, ['node', '/app/tick.js']);
  assert.equal(config.User, '65532:65532');
  assert.equal(config.WorkingDir, '/tmp');
  assert.equal(config.Cmd, undefined);
  assert.deepEqual(config.Env, [
    'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt',
    'PATH=/nodejs/bin',
    'NODE_ENV=production',
    'NODE_COMPILE_CACHE=/app/.compile-cache',
  ]);
});

test('unpacked, it starts a tick and the servers, with nothing of this machine', async () => {
  const { manifest, config } = await imageFor(process.arch === 'arm64' ? 'arm64' : 'amd64');
  const root = join(scratch, 'root');
  await mkdir(root);
  for (const [i, layer] of manifest.layers.entries()) {
    const file = join(scratch, `layer-${i}`);
    await writeFile(file, await blobIn(layout, layer));
    await run('tar', ['-xf', file, '-C', root]);
  }
  // The variables are those of the image, by which this machine's own programs are not found.
  const unshare = (await run('which', ['unshare'])).stdout.trim();
  const env = Object.fromEntries((config.config?.Env ?? []).map((one) => one.split('=') as [string, string]));
  const [, program = ''] = recipe.entrypoint;
  const inside = ['--map-root-user', `--root=${root}`, `--wd=${recipe.directory}`, '/nodejs/bin/node'];
  const { stdout } = await run(unshare, [...inside, program, '--help'], { env });
  assert.match(stdout, /^Usage: /);
  // With nothing enabled it says so and exits with 2.
  await assert.rejects(run(unshare, [...inside, '/app/serve.js'], { env }), { code: 2 });
});

test('written again, it is the same file', async () => {
  const again = join(scratch, 'again.tar');
  const entries = (await entriesBelow(app, 'app/')).toReversed();
  assert.equal(await packageImage({ recipe, base, entries, name, outfile: again }), digest);
  assert.ok((await readFile(again)).equals(await readFile(outfile)));
});

test('another base than that of the Dockerfile is refused, and so is one for one architecture', async () => {
  const onDockerfile = await recipeIn(checkout);
  const wanted = { base, entries: [], name, outfile };
  await assert.rejects(packageImage({ ...wanted, recipe: onDockerfile }), /and the Dockerfile builds on sha256:14d4/);
  const blobs: Blobs = new Map();
  const half = join(scratch, 'half');
  const index = await writeLayout(half, blobs, [await manifestFor(blobs, 'amd64', [])]);
  const refused = packageImage({ ...wanted, base: half, recipe: { ...recipe, base: index.digest } });
  await assert.rejects(refused, /has nothing for linux\/arm64/);
});

test('a content that is not what its digest says is refused', async () => {
  const { index } = await indexIn(base);
  const [first = assert.fail()] = index.manifests;
  const file = join(base, 'blobs', first.digest.replace(':', '/'));
  const content = await readFile(file);
  await writeFile(file, Buffer.concat([content, Buffer.from(' ')]));
  await assert.rejects(packageImage({ recipe, base, entries: [], name, outfile }), /has another content under sha256:/);
  await writeFile(file, content);
});
