import { createHash } from 'node:crypto';
import { type Duplex, pipeline, Readable } from 'node:stream';
import zlib from 'node:zlib';
import { BackupFailure } from '../../jobs/failure.ts';
import { kept } from './kept.ts';

/** Applied to a snapshot on its way to the store, and undone on its way back. */
export interface Encoding {
  readonly compression: 'none' | 'gzip' | 'zstd';
  /** Public keys of age, `age1…`: any one of their owners can decrypt. */
  readonly recipients?: readonly string[];
}

/** What went to the store. */
export interface Whole {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** Whether what goes to the store is the snapshot as it is. */
export function isPlain({ compression, recipients }: Encoding): boolean {
  return compression === 'none' && recipients === undefined;
}

/** Compressed, then encrypted, as asked; lazily, at the reader's pace. @param found gets the digests before the end */
export async function* encoded(
  chunks: AsyncIterable<Uint8Array>,
  { compression, recipients }: Encoding,
  found: (whole: Whole) => void,
): AsyncGenerator<Uint8Array> {
  const small = compression === 'none' ? chunks : through(chunks, compressor(compression));
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of recipients === undefined ? small : await sealed(small, recipients)) {
    bytes += chunk.length;
    hash.update(chunk);
    yield chunk;
  }
  found({ bytes, sha256: hash.digest('hex') });
}

async function sealed(
  chunks: AsyncIterable<Uint8Array>,
  recipients: readonly string[],
): Promise<AsyncIterable<Uint8Array>> {
  const { encrypted } = await import('./age.ts');
  return encrypted(chunks, recipients);
}

/**
 * The snapshot in an object, by the object's own first bytes: other tools may have compressed or encrypted it.
 * @param identities private keys of age, `AGE-SECRET-KEY-1…`
 * @throws {BackupFailure} NoKey, CannotDecrypt, or NotASnapshot where it can't be decompressed
 */
export async function* decoded(
  chunks: AsyncIterable<Uint8Array>,
  identities: readonly string[] | undefined,
): AsyncGenerator<Uint8Array> {
  const outer = await peeked(chunks);
  const plain = startsWith(outer.first, ageHeader) ? await opened(copied(outer.all), identities) : outer.all;
  const inner = await peeked(plain);
  const expander = expanderFor(inner.first);
  if (expander === undefined) yield* inner.all;
  else yield* through(copied(inner.all), expander);
}

async function opened(
  chunks: AsyncIterable<Uint8Array>,
  identities: readonly string[] | undefined,
): Promise<AsyncIterable<Uint8Array>> {
  if (identities === undefined || identities.length === 0)
    throw new BackupFailure(
      'NoKey',
      'the object is encrypted with age, and no identity is given: mount the Secret that holds it',
    );
  const { decrypted } = await import('./age.ts');
  return decrypted(chunks, identities);
}

const ageHeader = Buffer.from('age-encryption.org/v1\n');
const gzipMagic = Buffer.from([0x1f, 0x8b]);
const zstdMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

function expanderFor(first: Uint8Array): Duplex | undefined {
  if (startsWith(first, gzipMagic)) return zlib.createGunzip({ chunkSize });
  if (startsWith(first, zstdMagic)) return zstd('createZstdDecompress');
  return undefined;
}

/** What zlib gives at a time, in bytes: as much as a message of etcd. */
const chunkSize = 32 * 1024;

function compressor(compression: 'gzip' | 'zstd'): Duplex {
  return compression === 'gzip' ? zlib.createGzip({ chunkSize }) : zstd('createZstdCompress');
}

/** In Node since 22.15 and 23.8. */
function zstd(make: 'createZstdCompress' | 'createZstdDecompress'): Duplex {
  if (typeof zlib[make] === 'function') return zlib[make]({ chunkSize });
  throw new BackupFailure(
    'NodeTooOld',
    `Node ${process.version} has no zstd: use gzip, or an image with Node 24 or later`,
  );
}

async function* through(chunks: AsyncIterable<Uint8Array>, transform: Duplex): AsyncGenerator<Uint8Array> {
  let failure: { readonly error: unknown } | undefined;
  const source = Readable.from(
    kept(chunks, (error) => {
      failure = { error };
    }),
    { objectMode: true, highWaterMark: 4 },
  );
  // An error comes by the transform as well.
  pipeline(source, transform, () => undefined);
  try {
    yield* transform as AsyncIterable<Uint8Array>;
  } catch (cause) {
    if (failure !== undefined) throw failure.error;
    const { code } = Object(cause) as NodeJS.ErrnoException;
    throw new BackupFailure(
      'NotASnapshot',
      `the object can't be decompressed (${code ?? 'no reason given'}): it was cut off or changed; use another backup`,
      cause,
    );
  }
}

/** For what takes more than one at a time: a chunk of a store holds until the next one is asked for. */
async function* copied(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}

/** The first bytes, and all of them, those included. */
async function peeked(chunks: AsyncIterable<Uint8Array>) {
  const iterator = chunks[Symbol.asyncIterator]();
  let first: Uint8Array = new Uint8Array(0);
  let ended = false;
  while (first.length < ageHeader.length && !ended) {
    const next = await iterator.next();
    if (next.done) ended = true;
    else if (first.length === 0 && next.value.length >= ageHeader.length) first = next.value;
    else first = Buffer.concat([first, next.value]);
  }
  return { first, all: rest() };

  async function* rest(): AsyncGenerator<Uint8Array> {
    try {
      if (first.length > 0) yield first;
      for (let next = ended ? undefined : await iterator.next(); next && !next.done; next = await iterator.next())
        yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
}

function startsWith(bytes: Uint8Array, magic: Uint8Array): boolean {
  return Buffer.compare(bytes.subarray(0, magic.length), magic) === 0;
}
