import { inflateSync } from 'node:zlib';
import { GitError } from '../error.ts';

export interface PackBounds {
  readonly maxObjects: number;
  /** Bytes of one object, unpacked. */
  readonly maxObjectBytes: number;
  /** Bytes of all objects, unpacked. */
  readonly maxTotalBytes: number;
}

export const defaultPackBounds: PackBounds = {
  maxObjects: 500_000,
  maxObjectBytes: 128 * 1024 * 1024,
  maxTotalBytes: 1024 * 1024 * 1024,
};

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

/** Where an entry's bytes are, and what they make. */
export type Entry = { readonly start: number; readonly dataAt: number; readonly size: number } & (
  | { readonly type: ObjectType }
  /** Changes to what begins there, or has that name. */
  | { readonly type: 'delta'; readonly base: number | string }
);

const types: ReadonlyMap<number, ObjectType> = new Map([
  [1, 'commit'],
  [2, 'tree'],
  [3, 'blob'],
  [4, 'tag'],
]);
const ofsDelta = 6;
const refDelta = 7;

/**
 * Every entry of a pack with its content, one in memory at a time, each measured before it is unpacked: a few megabytes of zeros or of
 * deltas can stand for more than the machine has.
 *
 * @throws GitError TooLarge, BadAnswer
 */
export function* packEntries(
  pack: Buffer,
  bounds: PackBounds = defaultPackBounds,
): Generator<{ readonly entry: Entry; readonly data: Buffer }> {
  if (pack.length < 12) throw damaged();
  const objects = pack.readUInt32BE(8);
  if (objects > bounds.maxObjects) throw tooLarge(`${objects} objects`);
  let total = 0;
  let at = 12;
  for (let index = 0; index < objects; index++) {
    const entry = readHeader(pack, at);
    if (entry.size > bounds.maxObjectBytes) throw tooLarge(`an object of ${entry.size} bytes`);
    const { data, consumed } = unpack(pack, entry);
    const size = entry.type === 'delta' ? resultSize(data) : entry.size;
    if (size > bounds.maxObjectBytes) throw tooLarge(`an object of ${size} bytes`);
    total += size;
    if (total > bounds.maxTotalBytes) throw tooLarge(`more than ${bounds.maxTotalBytes} bytes of files`);
    yield { entry, data };
    at = entry.dataAt + consumed;
  }
}

/** The content of an entry that was found before. @throws GitError BadAnswer */
export function contentOf(pack: Buffer, entry: Entry): Buffer {
  return unpack(pack, entry).data;
}

/** Type and size share a number of 7 bits per byte, of which the first byte has 4 (gitformat-pack). */
function readHeader(pack: Buffer, start: number): Entry {
  let at = start;
  let byte = byteAt(pack, at++);
  const kind = (byte >> 4) & 7;
  let size = byte & 15;
  for (let shift = 4; byte & 0x80; shift += 7) {
    byte = byteAt(pack, at++);
    size += (byte & 0x7f) * 2 ** shift;
  }
  if (kind === refDelta) {
    return { start, dataAt: at + 20, size, type: 'delta', base: pack.toString('hex', at, at + 20) };
  }
  if (kind === ofsDelta) {
    // Each byte but the last stands for one more than it says, so that no distance has two spellings.
    byte = byteAt(pack, at++);
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

function unpack(pack: Buffer, { dataAt, size }: Entry): { data: Buffer; consumed: number } {
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

/** A delta begins with the size of its base and the size of its result. */
function resultSize(delta: Buffer): number {
  return sizeAt(delta, sizeAt(delta, 0).next).size;
}

/** 7 bits per byte, the lowest first. */
export function sizeAt(bytes: Buffer, start: number): { readonly size: number; readonly next: number } {
  let size = 0;
  let at = start;
  for (let shift = 0; ; shift += 7) {
    const byte = byteAt(bytes, at++);
    size += (byte & 0x7f) * 2 ** shift;
    if (!(byte & 0x80)) return { size, next: at };
  }
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
