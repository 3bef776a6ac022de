import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Writes a file that must not exist yet, and returns when it is on the disk. */
export async function writeFlushed(
  path: string,
  body: AsyncIterable<Uint8Array>,
  { signal, mode }: { readonly signal: AbortSignal; readonly mode: number },
): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
  try {
    for await (const chunk of body) {
      signal.throwIfAborted();
      for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten;
    }
    signal.throwIfAborted();
    await file.sync();
  } finally {
    await file.close();
  }
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
