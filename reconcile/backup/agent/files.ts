import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { partsOf } from '../stores/parts.ts';

/** Read and written at a time, in bytes: each costs a turn of the thread pool, whatever its size. */
export const pieceSize = 1024 * 1024;

interface Writing {
  readonly signal: AbortSignal;
  readonly mode: number;
}

/** Writes a file that must not exist yet, and returns when it is on the disk. */
export async function writeFlushed(path: string, body: AsyncIterable<Uint8Array>, writing: Writing): Promise<void> {
  await writeNew(path, body, writing, (file) => file.sync());
}

/** Writes a file that must not exist yet. A power cut may tear it: for what is checked before each use. */
export async function writeUnflushed(path: string, body: AsyncIterable<Uint8Array>, writing: Writing): Promise<void> {
  await writeNew(path, body, writing, async () => {});
}

/** One piece is written while the next one comes. */
async function writeNew(
  path: string,
  body: AsyncIterable<Uint8Array>,
  { signal, mode }: Writing,
  finish: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
  let writing: Promise<void> = Promise.resolve();
  try {
    const spare: Uint8Array[] = [];
    for await (const piece of partsOf(body, pieceSize, spare)) {
      await writing;
      signal.throwIfAborted();
      writing = writeAll(file, piece).then(() => {
        if (piece.length === pieceSize) spare.push(piece);
      });
      // It is awaited by the next piece; until then, it must not count as unhandled.
      writing.catch(() => undefined);
    }
    await writing;
    signal.throwIfAborted();
    await finish(file);
  } finally {
    await writing.catch(() => undefined);
    await file.close();
  }
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) at += (await file.write(piece, at)).bytesWritten;
}

/**
 * A file in pieces; the next one is read meanwhile. A piece is valid until the next one is asked for: its buffer is
 * used again, since on a busy machine the collector comes late.
 */
export async function* readPieces(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r');
  let reading: ReturnType<typeof read> | undefined;
  const read = (into: Buffer) => file.read(into, 0, into.length);
  try {
    let [free, other] = [Buffer.allocUnsafeSlow(pieceSize), Buffer.allocUnsafeSlow(pieceSize)];
    for (reading = read(free); ; ) {
      const { bytesRead } = await reading;
      signal.throwIfAborted();
      if (bytesRead === 0) return;
      const filled = free;
      [free, other] = [other, filled];
      reading = read(free);
      // It is awaited for the next piece; until then, it must not count as unhandled.
      reading.catch(() => undefined);
      yield filled.subarray(0, bytesRead);
    }
  } finally {
    await reading?.catch(() => undefined);
    await file.close();
  }
}

/** All that a directory holds is on the disk, and it too. */
export async function flushTree(directory: string): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  for (const { parentPath, name } of entries) await flush(join(parentPath, name));
  await flush(directory);
}

/** Which names a directory has is on the disk. */
export function flushDirectory(directory: string): Promise<void> {
  return flush(directory);
}

async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}
