import { createHash } from 'node:crypto';
import { crc32, createInflate, inflateSync } from 'node:zlib';
import { GitError, stopIfAborted } from '../error.ts';

export interface PackBounds {
  readonly maxObjects: number;
  /** Bytes of one object, unpacked. */
  readonly maxObjectBytes: number;
  /** Bytes of one that is taken into memory as a whole: a file that is larger is only named. */
  readonly maxHeldBytes: number;
  /** Bytes of all objects, unpacked, and of the changes that some are stored as. */
  readonly maxTotalBytes: number;
}

export const defaultPackBounds: PackBounds = {
  maxObjects: 500_000,
  maxObjectBytes: 128 * 1024 * 1024,
  maxHeldBytes: 16 * 1024 * 1024,
  maxTotalBytes: 1024 * 1024 * 1024,
};

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

interface Place {
  /** Bytes from the pack's beginning: where the entry begins, and where its compressed bytes do. */
  readonly start: number;
  readonly dataAt: number;
  /** Of what is compressed. */
  readonly size: number;
}

export interface Whole extends Place {
  readonly type: ObjectType;
}

export interface Delta extends Place {
  readonly type: 'delta';
  /** What it changes: the entry that begins there, or the object of that name. */
  readonly base: number | string;
}

export interface Unpacked {
  readonly entry: Whole | Delta;
  readonly data: Buffer;
  /** Of the entry as it stands in the pack. */
  readonly crc: number;
}

/** A file, or a delta to one, that is too large to be held. */
export interface Skimmed extends Pick<Unpacked, 'entry' | 'crc'> {
  /** Of what was skimmed, as if it were a file. */
  readonly name: string;
}

const types: ReadonlyMap<number, ObjectType> = new Map([
  [1, 'commit'],
  [2, 'tree'],
  [3, 'blob'],
  [4, 'tag'],
]);
const ofsDelta = 6;
const refDelta = 7;
const headBytes = 12;
const sumBytes = 20;

/**
 * Every entry of a pack, one in memory at a time, each measured before it is unpacked: a few megabytes of zeros or of
 * deltas can stand for more than the machine has. @throws GitError TooLarge, BadAnswer, Aborted
 */
export async function* packEntries(
  pack: Buffer,
  bounds: PackBounds = defaultPackBounds,
  signal?: AbortSignal,
): AsyncGenerator<Unpacked | Skimmed, void> {
  const end = pack.length - sumBytes;
  if (end < headBytes || pack.readUInt32BE(4) !== 2) throw damaged();
  const objects = pack.readUInt32BE(8);
  if (objects > bounds.maxObjects) throw tooLarge(`${objects} objects`);
  let total = 0;
  function count(bytes: number): void {
    if (bytes > bounds.maxObjectBytes) throw tooLarge(`an object of ${bytes} bytes`);
    total += bytes;
    if (total > bounds.maxTotalBytes) throw tooLarge(`more than ${bounds.maxTotalBytes} bytes of files`);
  }

  let at = headBytes;
  for (let index = 0; index < objects; index++) {
    const entry = readHeader(pack, at);
    count(entry.size);
    if (entry.size > bounds.maxHeldBytes) {
      if (entry.type !== 'blob' && entry.type !== 'delta') throw tooLarge(`a ${entry.type} of ${entry.size} bytes`);
      const { name, consumed } = await skim(pack, entry, signal);
      at = entry.dataAt + consumed;
      yield { entry, name, crc: crc32(pack.subarray(entry.start, at)) };
      continue;
    }
    const { data, consumed } = unpack(pack, entry);
    if (entry.type === 'delta') count(resultSize(data));
    at = entry.dataAt + consumed;
    yield { entry, data, crc: crc32(pack.subarray(entry.start, at)) };
  }
  if (at !== end) throw damaged();
}

/** The bytes of an entry that was found before. @throws GitError BadAnswer */
export function bytesOf(pack: Buffer, entry: Whole | Delta): Buffer {
  return unpack(pack, entry).data;
}

/** Type and size share a number of 7 bits per byte, of which the first byte has 4 (gitformat-pack). */
function readHeader(pack: Buffer, start: number): Whole | Delta {
  const first = byteAt(pack, start);
  const kind = (first >> 4) & 7;
  const rest = first & 0x80 ? sizeAt(pack, start + 1) : { size: 0, next: start + 1 };
  const size = (first & 15) + rest.size * 16;
  let at = rest.next;
  if (kind === refDelta) {
    return { start, dataAt: at + 20, size, type: 'delta', base: pack.toString('hex', at, at + 20) };
  }
  if (kind === ofsDelta) {
    // Each byte but the last stands for one more than it says, so that no distance has two spellings.
    let byte = byteAt(pack, at++);
    let distance = byte & 0x7f;
    while (byte & 0x80) {
      byte = byteAt(pack, at++);
      distance = (distance + 1) * 128 + (byte & 0x7f);
    }
    return { start, dataAt: at, size, type: 'delta', base: start - distance };
  }
  const type = types.get(kind);
  if (!type) throw damaged();
  return { start, dataAt: at, size, type };
}

function unpack(pack: Buffer, { dataAt, size }: Place): { data: Buffer; consumed: number } {
  try {
    // One byte more than announced, so that a lie is an error and not a cut.
    const options = { info: true, maxOutputLength: size + 1, chunkSize: Math.max(64, size + 1) } as const;
    const result = inflateSync(pack.subarray(dataAt), options) as unknown as {
      buffer: Buffer;
      engine: { bytesWritten: number };
    };
    if (result.buffer.length === size) return { data: result.buffer, consumed: result.engine.bytesWritten };
  } catch (cause) {
    throw new GitError('BadAnswer', 'the data from the Git server is damaged', { cause });
  }
  throw new GitError('BadAnswer', 'the data from the Git server is damaged: an object has another size than it says');
}

/** Piece by piece. */
async function skim(
  pack: Buffer,
  { dataAt, size }: Place,
  signal: AbortSignal | undefined,
): Promise<{ name: string; consumed: number }> {
  const hash = createHash('sha1').update(`blob ${size}\0`);
  const inflate = createInflate({ chunkSize: 256 * 1024 });
  let bytes = 0;
  inflate.end(pack.subarray(dataAt));
  try {
    for await (const piece of inflate as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > size || signal?.aborted) break;
      hash.update(piece);
    }
  } catch (cause) {
    throw new GitError('BadAnswer', 'the data from the Git server is damaged', { cause });
  }
  stopIfAborted(signal);
  if (bytes !== size) throw damaged();
  return { name: hash.digest('hex'), consumed: inflate.bytesWritten };
}

/** A delta begins with the size of its base and the size of its result. */
export function resultSize(delta: Buffer): number {
  return sizeAt(delta, sizeAt(delta, 0).next).size;
}

/** 7 bits per byte, the lowest first; more than 49 of them are no size, and beyond what a number holds. */
export function sizeAt(bytes: Buffer, start: number): { readonly size: number; readonly next: number } {
  let size = 0;
  let at = start;
  for (let shift = 0; shift < 49; shift += 7) {
    const byte = byteAt(bytes, at++);
    size += (byte & 0x7f) * 2 ** shift;
    if (!(byte & 0x80)) return { size, next: at };
  }
  throw damaged();
}

export function byteAt(bytes: Buffer, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw damaged();
  return byte;
}

export function damaged(): GitError {
  return new GitError('BadAnswer', 'the data from the Git server is damaged or was cut off');
}

function tooLarge(what: string): GitError {
  return new GitError('TooLarge', `the repository holds ${what}: keep the specs in a smaller one`);
}
