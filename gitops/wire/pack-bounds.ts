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

const typeOf = { ofsDelta: 6, refDelta: 7 } as const;

/**
 * Measures what a pack unpacks to before anything unpacks it: a few megabytes of zeros or of deltas can stand for more than
 * the machine has. One object is in memory at a time.
 *
 * @throws GitError TooLarge, BadAnswer
 */
export function assertBounded(pack: Buffer, bounds: PackBounds = defaultPackBounds): void {
  const objects = pack.readUInt32BE(8);
  if (objects > bounds.maxObjects) throw tooLarge(`${objects} objects`);
  let total = 0;
  let at = 12;
  for (let index = 0; index < objects; index++) {
    const header = readHeader(pack, at);
    if (header.size > bounds.maxObjectBytes) throw tooLarge(`an object of ${header.size} bytes`);
    const { data, consumed } = unpack(pack, header.dataAt, header.size);
    const size = header.delta ? resultSize(data) : header.size;
    if (size > bounds.maxObjectBytes) throw tooLarge(`an object of ${size} bytes`);
    total += size;
    if (total > bounds.maxTotalBytes) throw tooLarge(`more than ${bounds.maxTotalBytes} bytes of files`);
    at = header.dataAt + consumed;
  }
}

/** Type and size share a number of 7 bits per byte, of which the first byte has 4 (gitformat-pack). */
function readHeader(pack: Buffer, start: number): { size: number; delta: boolean; dataAt: number } {
  let at = start;
  let byte = byteAt(pack, at++);
  const type = (byte >> 4) & 7;
  let size = byte & 15;
  for (let shift = 4; byte & 0x80; shift += 7) {
    byte = byteAt(pack, at++);
    size += (byte & 0x7f) * 2 ** shift;
  }
  if (type === typeOf.refDelta) at += 20;
  if (type === typeOf.ofsDelta) while (byteAt(pack, at++) & 0x80);
  return { size, delta: type === typeOf.ofsDelta || type === typeOf.refDelta, dataAt: at };
}

function unpack(pack: Buffer, at: number, size: number): { data: Buffer; consumed: number } {
  try {
    // One byte more than announced, so that a lie is an error and not a cut.
    const options = { info: true, maxOutputLength: size + 1 } as const;
    const result = inflateSync(pack.subarray(at), options) as unknown as {
      buffer: Buffer;
      engine: { bytesWritten: number };
    };
    if (result.buffer.length === size) return { data: result.buffer, consumed: result.engine.bytesWritten };
  } catch (cause) {
    throw new GitError('BadAnswer', 'the data from the Git server is damaged', { cause });
  }
  throw new GitError('BadAnswer', 'the data from the Git server is damaged: an object has another size than it says');
}

/** A delta begins with the size of its base and the size of its result, 7 bits per byte. */
function resultSize(delta: Buffer): number {
  let at = 0;
  function next(): number {
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = byteAt(delta, at++);
      size += (byte & 0x7f) * 2 ** shift;
      if (!(byte & 0x80)) return size;
    }
  }
  next();
  return next();
}

function byteAt(bytes: Buffer, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw new GitError('BadAnswer', 'the data from the Git server is damaged or was cut off');
  return byte;
}

function tooLarge(what: string): GitError {
  return new GitError('TooLarge', `the repository holds ${what}: keep the specs in a smaller one`);
}
