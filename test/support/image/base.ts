import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type Blobs, type Descriptor, digestOf, put, types } from '../../../functions/shipping/layout.ts';
import { type Entry, tarOf } from '../../../functions/shipping/tar.ts';

/**
 * Writes a layout as a registry would give the base of the image: for this machine's architecture with the Node that
 * runs the tests and the libraries that it is linked with, for the other with an empty layer.
 * @returns the digest of its index
 */
export async function baseLayout(directory: string, node = process.execPath): Promise<string> {
  const blobs: Blobs = new Map();
  const own = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const other = own === 'amd64' ? 'arm64' : 'amd64';
  const files = [...(await librariesOf(node)), { path: 'nodejs/bin/node', content: await readFile(node), mode: 0o755 }];
  const passwd = { path: 'etc/passwd', content: Buffer.from('nonroot:x:65532:65532::/home/nonroot:/sbin/nologin\n') };
  const manifests = [
    await manifestFor(blobs, own, [...files, passwd, { path: 'tmp/', mode: 0o777 }]),
    await manifestFor(blobs, other, [passwd]),
  ];
  const { digest } = await writeLayout(directory, blobs, manifests);
  return digest;
}

/** Writes contents, and an index of these manifests. */
export async function writeLayout(directory: string, blobs: Blobs, manifests: readonly Descriptor[]) {
  const index = put(blobs, types.index, { schemaVersion: 2, mediaType: types.index, manifests });
  await mkdir(join(directory, 'blobs/sha256'), { recursive: true });
  for (const [key, content] of blobs) await writeFile(join(directory, 'blobs', key.replace(':', '/')), content);
  await writeFile(join(directory, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  await writeFile(join(directory, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [index] }));
  return index;
}

export async function manifestFor(blobs: Blobs, architecture: string, entries: readonly Entry[]): Promise<Descriptor> {
  const tar = await tarOf(entries);
  const layer = put(blobs, types.layer, gzipSync(tar, { level: 1 }));
  const config = put(blobs, types.config, {
    ...{ architecture, os: 'linux', created: '1970-01-01T00:00:00Z' },
    config: { Env: ['PATH=/usr/bin', 'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt'], Cmd: ['nothing'], User: '0' },
    rootfs: { type: 'layers', diff_ids: [digestOf(tar)] },
    history: [{ created_by: 'the base' }],
  });
  const manifest = { schemaVersion: 2, mediaType: types.manifest, config, layers: [layer] };
  return { ...put(blobs, types.manifest, manifest), platform: { os: 'linux', architecture } };
}

/** The loader and the libraries of a program, where the program looks for them. */
async function librariesOf(program: string): Promise<readonly Entry[]> {
  const { stdout } = await promisify(execFile)('ldd', [program]);
  const found = [...stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path = '']) => path);
  const entries = found.map(async (path) => ({ path: path.slice(1), content: await readFile(path), mode: 0o755 }));
  const all = await Promise.all(entries);
  const directories = new Set(all.flatMap(({ path }) => ancestorsOf(path)));
  return [...[...directories].map((path) => ({ path: `${path}/` })), ...all];
}

function ancestorsOf(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === '.' ? [] : [...ancestorsOf(parent), parent];
}
