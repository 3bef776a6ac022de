import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { GitError } from './error.ts';

/**
 * The bytes of an answer, unzipped where they are zipped: proxies do that unasked. The first bytes decide, and not the
 * header: others unzip and leave it (https://github.com/gchq/stroom/pull/5797). No answer of Git begins like this.
 */
export async function* unzipped(answer: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = answer[Symbol.asyncIterator]();
  let first = Buffer.alloc(0);
  let isOver = false;
  while (first.length < magic.length && !isOver) {
    const { value, done } = await chunks.next();
    isOver = done === true;
    if (value) first = Buffer.concat([first, value]);
  }
  const all = joined(first, chunks);
  if (!first.subarray(0, magic.length).equals(magic)) yield* all;
  else yield* gunzipped(all);
}

const magic = Buffer.from([0x1f, 0x8b]);

async function* joined(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

async function* gunzipped(zipped: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  // Its errors come out of the loop.
  pipeline(Readable.from(zipped), gunzip, () => undefined);
  try {
    yield* gunzip;
  } catch (cause) {
    const isDamage = cause instanceof Error && 'code' in cause && String(cause.code).startsWith('Z_');
    if (!isDamage) throw cause;
    throw new GitError('BadAnswer', 'the server’s answer is zipped, and damaged or cut off', { cause });
  }
}
