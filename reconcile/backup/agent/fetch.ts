import { createHash } from 'node:crypto';
import { lstat, mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type ObjectLocation, urlOf } from '../../../manifests/api/object-template.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import type { Store } from '../stores/store.ts';
import { collected } from './collected.ts';
import { freeOn } from './disk.ts';
import { decoded } from './encoding.ts';
import { ignoreMissing, readPieces, writeUnflushed } from './files.ts';
import { type BackupRecord, readRecord } from './record.ts';
import { checkedTrailer, type SoundSnapshot } from './trailer.ts';

export interface FetchRequest {
  readonly location: ObjectLocation;
  /** Where the snapshot is to lie: absolute, in a directory that is ours. */
  readonly file: string;
  /** Private keys of age. */
  readonly identities?: readonly string[];
  /** Of the object as it is stored, where the asker knows it. Hex. */
  readonly sha256?: string;
  /** Looks at the record, if there is one, before anything is fetched, and throws what speaks against it. */
  readonly accepts?: (record: BackupRecord | undefined) => void;
}

export interface FetchTools {
  readonly store: Store;
  readonly signal: AbortSignal;
  /** Free bytes where a directory lies. Default: as its file system says. */
  readonly freeIn?: (directory: string) => Promise<number>;
}

export interface Fetched {
  readonly file: string;
  readonly snapshot: SoundSnapshot;
  /** `undefined` of a snapshot that another tool took: it is held against etcd's own checksum alone. */
  readonly record: BackupRecord | undefined;
}

/**
 * A snapshot in a file, checked on the way: the object against its record, the contents against etcd's checksum. Only a
 * whole file gets its name, but without fsync: a second call reads it whole, and fetches again what a power cut tore.
 * @throws {BackupFailure}
 */
export async function fetchSnapshot(
  request: FetchRequest,
  { store, signal, freeIn = freeOn }: FetchTools,
): Promise<Fetched> {
  const { location, file, identities, sha256 } = request;
  const record = await readRecord(store, location.path, { signal });
  // Said sooner than by the object, which may take hours to read.
  if (record) requireSame(urlOf(location), record.sha256, sha256);
  request.accepts?.(record);
  // Without a record, what lies there can't be held against the object's own digest.
  const there = record || sha256 === undefined ? await soundFile(file, signal) : undefined;
  if (there !== undefined) return { file, snapshot: sameAs(record, there), record };
  const partial = join(dirname(file), `.fetching-${basename(file)}`);
  await mkdir(dirname(file), { recursive: true });
  await rm(partial, { force: true });
  const free = record ? 0 : await freeIn(dirname(file));
  let snapshot: SoundSnapshot | undefined;
  const stored = collected(store.read(location.path, { signal }));
  const expected = asExpected(stored, { object: urlOf(location), record, sha256 });
  const plain = decoded(expected, identities);
  const bounded = record ? noLonger(plain, record) : halfOf(plain, { object: urlOf(location), file, free });
  const body = checkedTrailer(bounded, (found) => {
    snapshot = found;
  });
  await writeUnflushed(partial, body, { signal, mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOSPC') throw error;
    throw new BackupFailure(
      'Full',
      `there is no room for the snapshot in ${dirname(file)}: give that volume more`,
      error,
    );
  });
  if (snapshot === undefined)
    throw new BackupFailure('NotASnapshot', `${urlOf(location)} is empty: use another backup`);
  const sound = sameAs(record, snapshot);
  await rename(partial, file);
  return { file, snapshot: sound, record };
}

interface Expected {
  readonly object: string;
  readonly record: BackupRecord | undefined;
  /** What was asked for: a record was held against it before. */
  readonly sha256: string | undefined;
}

/**
 * Passes an object on, and fails at its end if it is not the recorded one. If it is stored as etcd sent it, the
 * snapshot's digest is the object's, and `sameAs` compares that: one is computed, not two.
 */
async function* asExpected(
  chunks: AsyncIterable<Uint8Array>,
  { object, record, sha256: asked }: Expected,
): AsyncGenerator<Uint8Array> {
  const isPlain = record !== undefined && record.sha256 === record.snapshot.sha256;
  const hash = isPlain || (record ?? asked) === undefined ? undefined : createHash('sha256');
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    // An object that is longer than recorded must not fill the volume.
    if (record && bytes > record.bytes) throw changed(record, `more than the ${record.bytes} bytes that are recorded`);
    hash?.update(chunk);
    yield chunk;
  }
  if (record && bytes !== record.bytes) throw changed(record, `${bytes} bytes, recorded are ${record.bytes}`);
  const sha256 = hash?.digest('hex');
  if (sha256 === undefined) return;
  if (record === undefined) return requireSame(object, sha256, asked);
  if (sha256 !== record.sha256) throw changed(record, `sha256 ${sha256}, recorded is ${record.sha256}`);
}

/** A few bytes of an archive can become any number of them. */
async function* noLonger(chunks: AsyncIterable<Uint8Array>, record: BackupRecord): AsyncGenerator<Uint8Array> {
  const most = record.snapshot.bytes;
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > most) throw changed(record, `more in it than the ${most} bytes that are recorded`);
    yield chunk;
  }
}

/**
 * Without a record nothing bounds the size. A restore needs room for it twice, so more than half of the free space
 * can't be restored there: it stops before it fills the volume, or a node's disk.
 */
async function* halfOf(
  chunks: AsyncIterable<Uint8Array>,
  { object, file, free }: { readonly object: string; readonly file: string; readonly free: number },
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > free / 2)
      throw new BackupFailure(
        'Full',
        `${object} has no record that says its size, and is larger than half of the ${free} bytes that are free in ${dirname(file)}; a restore needs room for it twice: see that it is a snapshot, then give that volume more`,
      );
    yield chunk;
  }
}

function changed({ object }: BackupRecord, has: string): BackupFailure {
  return new BackupFailure(
    'WrongDigest',
    `${object} has ${has}: it was changed or cut off after the backup; use another one`,
  );
}

export function requireSame(object: string, found: string, asked: string | undefined): void {
  if (asked === undefined || found === asked) return;
  throw new BackupFailure(
    'WrongDigest',
    `${object} has sha256 ${found}, and ${asked} was asked for: it is another object, or was changed; name the one that has this sha256, or correct the sha256`,
  );
}

function sameAs(record: BackupRecord | undefined, snapshot: SoundSnapshot): SoundSnapshot {
  if (record === undefined || record.snapshot.sha256 === snapshot.sha256) return snapshot;
  throw new BackupFailure(
    'WrongDigest',
    `the snapshot has sha256 ${snapshot.sha256}, and the record of ${record.object} says ${record.snapshot.sha256}: they are not of one backup; use another one`,
  );
}

/** `undefined` where there is none, or it is torn. Read whole: a name alone proves nothing of a disk. */
async function soundFile(file: string, signal: AbortSignal): Promise<SoundSnapshot | undefined> {
  if ((await lstat(file).catch(ignoreMissing)) === undefined) return undefined;
  let snapshot: SoundSnapshot | undefined;
  const body = checkedTrailer(readPieces(file, signal), (found) => {
    snapshot = found;
  });
  try {
    for await (const _ of body);
  } catch (error) {
    if (!(error instanceof BackupFailure)) throw error;
    // What the power cut left of it; the object itself is judged when it is fetched.
    await rm(file);
  }
  return snapshot;
}
