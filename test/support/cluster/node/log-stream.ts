import { type FileHandle, open } from 'node:fs/promises';
import type { Writable } from 'node:stream';

export type LogRequest = {
  readonly file: string;
  readonly follow: boolean;
  /** Whether more may come. */
  readonly running: () => boolean;
  readonly tailLines?: number | undefined;
  readonly limitBytes?: number | undefined;
};

const lookEveryMs = 200;

/**
 * Writes the wanted part of a log file and, when following, what is added until the container ends or the reader
 * leaves.
 */
export async function streamLog(request: LogRequest, to: Writable): Promise<void> {
  const handle = await open(request.file, 'r');
  try {
    let position = await startOf(handle, request.tailLines);
    let left = request.limitBytes ?? Number.POSITIVE_INFINITY;
    for (;;) {
      // Asked before reading: what was written before the end is then surely read.
      const more = request.follow && request.running();
      for (;;) {
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(64 * 1024), 0, 64 * 1024, position);
        if (bytesRead === 0 || left <= 0 || to.destroyed) break;
        const part = buffer.subarray(0, Math.min(bytesRead, left));
        position += bytesRead;
        left -= part.length;
        if (!to.write(part)) await drained(to);
      }
      if (!more || left <= 0 || to.destroyed) break;
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
  } finally {
    await handle.close();
    to.end();
  }
}

function drained(to: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      to.off('drain', done).off('close', done);
      resolve();
    };
    to.on('drain', done).on('close', done);
  });
}

/** Where the last `lines` lines begin; a line that has not ended yet counts. */
async function startOf(handle: FileHandle, lines: number | undefined): Promise<number> {
  if (lines === undefined) return 0;
  const { size } = await handle.stat();
  const text = await handle.readFile();
  let position = size;
  for (let count = 0; position > 0; count++) {
    const newline = text.lastIndexOf(10, position - (count === 0 ? 2 : 2));
    if (count === lines) return position;
    position = newline + 1;
  }
  return 0;
}
