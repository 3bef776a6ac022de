import { createHash } from 'node:crypto';
import { BackupFailure } from '../../jobs/failure.ts';

/** etcd ends a snapshot with the sha256 of all before it. The database itself is whole pages. In bytes. */
const trailerBytes = 32;
const pageBytes = 512;

export interface SoundSnapshot {
  /** Of the whole file, its trailer included. */
  readonly bytes: number;
  /** Of the whole file, its trailer included: what `sha256sum` prints. Hex. */
  readonly sha256: string;
}

/**
 * Passes a snapshot on and checks it meanwhile. The last chunk passes only if the whole is sound, so a store never gets
 * the end of a bad one.
 * @param found gets the facts of a sound one
 * @throws {BackupFailure} NotASnapshot, BadTrailer or WrongDigest
 */
export async function* checkedTrailer(
  chunks: AsyncIterable<Uint8Array>,
  found: (snapshot: SoundSnapshot) => void,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let bytes = 0;
  let held: Uint8Array = new Uint8Array(0);
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    bytes += chunk.length;
    if (chunk.length < trailerBytes) {
      held = Buffer.concat([held, chunk]);
    } else {
      if (held.length > 0) {
        hash.update(held);
        yield held;
      }
      held = chunk;
    }
    if (held.length <= 2 * trailerBytes) {
      held = Buffer.from(held);
      continue;
    }
    const body = held.subarray(0, held.length - trailerBytes);
    hash.update(body);
    yield body;
    // Copied: the chunk that it is of holds no longer than until the next one is asked for.
    held = Buffer.from(held.subarray(held.length - trailerBytes));
  }
  if (bytes === 0) throw new BackupFailure('NotASnapshot', 'the snapshot is empty: take or copy it again');
  if (bytes <= trailerBytes || bytes % pageBytes !== trailerBytes) throw badTrailer(bytes);
  const trailer = held.subarray(held.length - trailerBytes);
  hash.update(held.subarray(0, held.length - trailerBytes));
  if (!hash.copy().digest().equals(trailer)) throw wrongDigest(bytes);
  found({ bytes, sha256: hash.update(trailer).digest('hex') });
  yield held;
}

function badTrailer(bytes: number): BackupFailure {
  return new BackupFailure(
    'BadTrailer',
    `the snapshot has ${bytes} bytes, which is not whole pages of ${pageBytes} and a checksum of ${trailerBytes}: it was cut off, or it is a copy of a data directory; take it again with "etcdctl snapshot save"`,
  );
}

function wrongDigest(bytes: number): BackupFailure {
  return new BackupFailure(
    'WrongDigest',
    `the snapshot of ${bytes} bytes does not have the sha256 that etcd wrote at its end: it was changed after etcd sent it; use another backup, and look at what stored or carried this one`,
  );
}
