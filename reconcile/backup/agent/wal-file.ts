import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { LogUnreadable } from '../../jobs/disk-log.ts';
import { crc32c } from './crc32c.ts';
import { fieldsOf } from './protobuf.ts';

/**
 * Reads one file of etcd's write-ahead log (see etcd's wal/decoder.go): records behind their length, and zeros up to
 * the size that the file was made with. The disk is of others, and the last write of an etcd that was killed may be
 * torn: where etcd would cut the log off, it ends.
 */

/** All kinds of records that there are. */
export const walRecords = { metadata: 1n, entry: 2n, state: 3n, crc: 4n, snapshot: 5n } as const;

/** Read at once, in bytes. */
const chunk = 1024 * 1024;
/** By default etcd takes requests of 1.5 MiB. */
const largestRecord = 64 * 1024 * 1024;
/** A disk writes so many bytes at once, as etcd has it. */
const sector = 512;
const lengthBytes = 8;

export interface WalOptions {
  /** Only its end may be torn: etcd syncs a file before it begins the next one. */
  readonly isNewest: boolean;
  readonly signal: AbortSignal;
}

/** @throws {LogUnreadable} which names the file and where in it */
export async function readWalFile(
  path: string,
  { isNewest, signal }: WalOptions,
  take: (type: bigint, data: Buffer) => void,
): Promise<void> {
  // A link would lead elsewhere, and a pipe would never answer.
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stats = await file.stat();
  const unreadable = (at: number, why: string) => new LogUnreadable(`${basename(path)}, at byte ${at}: ${why}`);
  if (!stats.isFile()) throw unreadable(0, 'it is no file');
  const read = ahead(file, stats.size);
  let running = 0;
  for (let at = 0; at < stats.size; ) {
    signal.throwIfAborted();
    const length = await read(at, lengthBytes);
    if (length.length < lengthBytes) return endedOr(isNewest, unreadable(at, 'it is cut off'));
    const { record: size, padding } = frameOf(length);
    if (size === 0 && padding === 0) return;
    if (at + size + padding > stats.size) return endedOr(isNewest, unreadable(at, 'a record goes beyond its end'));
    if (size > largestRecord) throw unreadable(at, `a record of ${size} bytes is larger than etcd writes any`);
    const framed = await read(at + lengthBytes, size + padding);
    if (framed.length < size + padding) return endedOr(isNewest, unreadable(at, 'it is cut off'));
    const record = fieldsOf(framed.subarray(0, size));
    const data = record?.bytes(3) ?? Buffer.alloc(0);
    const type = record?.number(1);
    const said = Number(record?.number(2) ?? 0n);
    const isCrc = type === walRecords.crc;
    if (!isCrc) running = crc32c(data, running);
    if (record === undefined || type === undefined || (said !== running && (!isCrc || running !== 0)))
      return endedOr(isNewest && isTorn(framed, at + lengthBytes), unreadable(at, 'a record is damaged'));
    if (isCrc) running = said;
    take(type, data);
    at += lengthBytes + size + padding;
  }
}

function endedOr(isTorn: boolean, failure: LogUnreadable): void {
  if (!isTorn) throw failure;
}

/** The length is in the lower 56 bits; the highest byte says how many zeros follow. */
function frameOf(length: Buffer): { readonly record: number; readonly padding: number } {
  const highest = length.readUInt8(7);
  const record = Number(length.readBigUInt64LE() & 0xff_ffff_ffff_ffffn);
  return { record, padding: highest >= 0x80 ? highest & 7 : 0 };
}

/** Part of it never reached the disk: a sector has only zeros. */
function isTorn(framed: Buffer, begins: number): boolean {
  for (let at = 0; at < framed.length; ) {
    const ends = Math.min(framed.length, at + sector - ((begins + at) % sector));
    if (framed.subarray(at, ends).every((byte) => byte === 0)) return true;
    at = ends;
  }
  return false;
}

/** Most records are small. Fewer bytes than were asked for: the file ends. */
function ahead(file: FileHandle, size: number): (offset: number, length: number) => Promise<Buffer> {
  let begins = 0;
  let held = Buffer.alloc(0);
  return async (offset, length) => {
    if (offset < begins || offset + length > begins + held.length) {
      const wanted = Math.min(Math.max(length, chunk), size - offset);
      const { bytesRead, buffer } = await file.read(Buffer.alloc(wanted), 0, wanted, offset);
      [begins, held] = [offset, buffer.subarray(0, bytesRead)];
    }
    return held.subarray(offset - begins, offset - begins + length);
  };
}
