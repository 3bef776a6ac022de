import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { imageDefaults } from '../../../../manifests/api/spec-defaults.ts';
import { goArch } from '../binaries/cache.ts';
import type { Binaries } from '../binaries.ts';
import { run } from '../node/command.ts';
import { checkout } from '../own-image.ts';

/** An image as this ground needs it: without a registry, and with one layer. */
export interface ImageSource {
  readonly name: string;
  /** Path in the container → path on this machine. */
  readonly files: Readonly<Record<string, string>>;
  /** Further text files. */
  readonly texts?: Readonly<Record<string, string>>;
  /** What `docker inspect` calls its Config. */
  readonly config: Readonly<Record<string, unknown>>;
}

export const pauseImage = 'registry.k8s.io/pause:3.9';

/** The images that there are on a real node: etcd of each minor, our own, and what holds a pod's namespaces. */
export async function imageSources(binaries: Binaries, pause: string): Promise<readonly ImageSource[]> {
  return [
    { name: pauseImage, files: { '/pause': pause }, config: { Entrypoint: ['/pause'], User: '65535:65535' } },
    ...Object.keys(binaries.etcd).map((version) => etcdImage(binaries, version as keyof Binaries['etcd'])),
    await ownImage(),
  ];
}

/** As etcd's project makes it: of root, with nothing but its three programs. */
function etcdImage({ etcd, etcdutl, etcdctl }: Binaries, version: keyof Binaries['etcd']): ImageSource {
  return {
    name: `${imageDefaults.repository}:v${version}`,
    files: {
      '/usr/local/bin/etcd': etcd[version],
      '/usr/local/bin/etcdutl': etcdutl[version],
      '/usr/local/bin/etcdctl': etcdctl,
    },
    config: { Env: ['PATH=/usr/local/bin:/usr/bin:/bin'], Cmd: ['/usr/local/bin/etcd'] },
  };
}

/** As the Dockerfile says, of this checkout's bundle and the Node that runs this, with the libraries that it needs. */
async function ownImage(): Promise<ImageSource> {
  const { images } = parse(await readFile(join(checkout, 'manifests/image/kustomization.yaml'), 'utf8')) as {
    readonly images: readonly [{ readonly name: string; readonly newTag: string }];
  };
  const [{ name, newTag }] = images;
  return {
    name: `${name}:${newTag}`,
    files: {
      '/app': join(checkout, 'dist'),
      '/nodejs/bin/node': process.execPath,
      ...(await librariesOf(process.execPath)),
    },
    texts: {
      '/etc/passwd': 'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n',
    },
    config: {
      Env: ['PATH=/nodejs/bin', 'NODE_ENV=production', 'NODE_COMPILE_CACHE=/app/.compile-cache'],
      User: '65532:65532',
      WorkingDir: '/tmp',
      Entrypoint: ['node', '/app/tick.js'],
    },
  };
}

/** What the loader finds for a program: in the container it is where it is here. */
async function librariesOf(program: string): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await promisify(execFile)('ldd', [program]);
  const paths = [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
  return Object.fromEntries(paths.map((path) => [path, path]));
}

/** Writes it as an archive in the layout of OCI. @returns its path */
export async function writeImage(source: ImageSource, directory: string): Promise<string> {
  const work = join(directory, createHash('sha256').update(source.name).digest('hex').slice(0, 16));
  const blobs = join(work, 'layout/blobs/sha256');
  await mkdir(blobs, { recursive: true });
  const layer = await storedFile(blobs, await writeLayer(source, work));
  const config = await storedJson(blobs, {
    architecture: goArch(),
    os: 'linux',
    config: source.config,
    rootfs: { type: 'layers', diff_ids: [layer.digest] },
  });
  const oci = 'application/vnd.oci.image';
  const manifest = await storedJson(blobs, {
    schemaVersion: 2,
    mediaType: `${oci}.manifest.v1+json`,
    config: { mediaType: `${oci}.config.v1+json`, ...config },
    layers: [{ mediaType: `${oci}.layer.v1.tar`, ...layer }],
  });
  const named = { annotations: { 'io.containerd.image.name': source.name } };
  const index = { schemaVersion: 2, manifests: [{ mediaType: `${oci}.manifest.v1+json`, ...manifest, ...named }] };
  await writeFile(join(work, 'layout/index.json'), JSON.stringify(index));
  await writeFile(join(work, 'layout/oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  const archive = `${work}.tar`;
  await run('tar', ['-cf', archive, '-C', join(work, 'layout'), '.'], { timeoutMs: 60_000 });
  await rm(work, { recursive: true });
  return archive;
}

async function writeLayer({ files, texts = {} }: ImageSource, work: string): Promise<string> {
  const root = join(work, 'root');
  const inside = (path: string) => join(root, resolve('/', path));
  await mkdir(inside('/tmp'), { recursive: true });
  await chmod(inside('/tmp'), 0o1777);
  for (const [path, source] of Object.entries(files)) {
    await mkdir(dirname(inside(path)), { recursive: true });
    await symlink(source, inside(path));
  }
  for (const [path, text] of Object.entries(texts)) {
    await mkdir(dirname(inside(path)), { recursive: true });
    await writeFile(inside(path), text);
  }
  const layer = join(work, 'layer.tar');
  const asRoot = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u+rwX,go+rX'];
  await run('tar', ['-cf', layer, '--dereference', ...asRoot, '-C', root, '.'], { timeoutMs: 60_000 });
  return layer;
}

interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

async function storedFile(blobs: string, file: string): Promise<Descriptor> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const digest = hash.digest('hex');
  const { size } = await stat(file);
  await rename(file, join(blobs, digest));
  return { digest: `sha256:${digest}`, size };
}

async function storedJson(blobs: string, value: unknown): Promise<Descriptor> {
  const text = JSON.stringify(value);
  const digest = createHash('sha256').update(text).digest('hex');
  await writeFile(join(blobs, digest), text);
  return { digest: `sha256:${digest}`, size: Buffer.byteLength(text) };
}
