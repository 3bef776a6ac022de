import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { goArch } from './cache.ts';
import type { Wanted } from './catalogue.ts';

/** An official release file, and the published checksums that name it. */
export interface Release {
  readonly url: string;
  readonly checksumUrl: string;
  /** Of the binary inside, if the file is an archive. */
  readonly member?: string;
}

/** `undefined` of what is always built. */
export function releaseOf({ name, version, onlyBuilt }: Wanted): Release | undefined {
  if (onlyBuilt) return undefined;
  const platform = `${process.platform}-${goArch()}`;
  if (name === 'etcd' || name === 'etcdutl' || name === 'etcdctl') {
    const base = `https://github.com/etcd-io/etcd/releases/download/v${version}`;
    const archive = `etcd-v${version}-${platform}`;
    return { url: `${base}/${archive}.tar.gz`, checksumUrl: `${base}/SHA256SUMS`, member: `${archive}/${name}` };
  }
  const url = `https://dl.k8s.io/release/v${version}/bin/${platform.replace('-', '/')}/${name}`;
  return { url, checksumUrl: `${url}.sha256` };
}

/** A machine behind a firewall must not wait for it: one question, and a moment for the answer. */
export async function isReachable(release: Release, signal: AbortSignal, milliseconds = 3_000): Promise<boolean> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
  return fetch(release.url, { method: 'HEAD', signal: deadline }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** @throws when the server stalls for 15 s, sends something else than its own checksum says, or too much. */
export async function download(release: Release, file: string, signal: AbortSignal): Promise<void> {
  const expected = checksumFor(release, await text(release.checksumUrl, signal));
  const received = release.member === undefined ? file : `${file}.tar.gz`;
  const actual = await fetchTo(received, release.url, signal);
  if (actual !== expected) throw new Error(`${release.url} has SHA-256 ${actual}, published is ${expected}`);
  if (release.member === undefined) return;

  const strip = release.member.split('/').length - 1;
  const args = ['-xzf', received, '-C', dirname(file), `--strip-components=${strip}`, release.member];
  await promisify(execFile)('tar', args, { signal });
  await promisify(execFile)('mv', [`${dirname(file)}/${basename(release.member)}`, file], { signal });
  await rm(received);
}

/** Either the digest alone, or lines of `<digest>  <file name>`. */
export function checksumFor(release: Release, published: string): string {
  const name = basename(release.url);
  for (const line of published.split('\n')) {
    const [, digest, file] = /^([0-9a-f]{64})(?:\s+\*?(\S+))?\s*$/.exec(line) ?? [];
    if (digest !== undefined && (file === undefined || file === name)) return digest;
  }
  throw new Error(`${release.checksumUrl} does not name ${name}`);
}

async function text(url: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(15_000)]) });
  const body = await response.text();
  if (!response.ok || body.length > 100_000) throw new Error(`${url} answered ${response.status}`);
  return body;
}

const largest = 400 * 1024 * 1024;
const stallMilliseconds = 15_000;

async function fetchTo(file: string, url: string, signal: AbortSignal): Promise<string> {
  const stalled = new AbortController();
  const give = () => stalled.abort(new Error(`${url} sent nothing for ${stallMilliseconds / 1000} s`));
  const timer = setTimeout(give, stallMilliseconds);
  const both = AbortSignal.any([signal, stalled.signal]);
  try {
    const response = await fetch(url, { signal: both });
    if (!response.ok || !response.body) throw new Error(`${url} answered ${response.status}`);
    const hash = createHash('sha256');
    let size = 0;
    const meter = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        timer.refresh();
        hash.update(chunk);
        size += chunk.length;
        done(size > largest ? new Error(`${url} is larger than ${largest} bytes`) : null, chunk);
      },
    });
    await pipeline(Readable.fromWeb(response.body), meter, createWriteStream(file), { signal: both });
    return hash.digest('hex');
  } finally {
    clearTimeout(timer);
  }
}
