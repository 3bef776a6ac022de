import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { partsOf } from './parts.ts';

/** Written at a time, in bytes: a write costs a turn of the thread pool, whatever its size. */
const pieceSize = 1024 * 1024;

/**
 * Writes a file that must not exist yet, and returns when it is on the disk. One piece is written while the next one
 * comes.
 */
export async function writeFlushed(
  path: string,
  body: AsyncIterable<Uint8Array>,
  { signal, mode }: { readonly signal: AbortSignal; readonly mode: number },
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
    await file.sync();
  } finally {
    await writing.catch(() => undefined);
    await file.close();
  }
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) at += (await file.write(piece, at)).bytesWritten;
}

/** Which names a directory has is on the disk. */
export async function flushDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
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
