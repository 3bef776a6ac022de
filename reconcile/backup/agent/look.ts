import { createHash } from 'node:crypto';
import { type ObjectLocation, urlOf } from '../../../manifests/api/object-template.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import { collected } from './collected.ts';
import { type FetchTools, requireSame } from './fetch.ts';
import { type BackupRecord, readRecord } from './record.ts';

export interface LookRequest {
  readonly location: ObjectLocation;
  /** Of the object as it is stored. Hex. */
  readonly sha256: string;
}

/**
 * Whether a backup is still as it was stored: its record, its size, and every byte, read once and kept nowhere. Needs
 * no key. @throws {BackupFailure} NotFound if the object or its record is gone; WrongDigest if it is another one
 */
export async function lookForBackup(
  { location, sha256 }: LookRequest,
  { store, signal }: FetchTools,
): Promise<BackupRecord> {
  const object = urlOf(location);
  const [record, stored] = await Promise.all([
    readRecord(store, location.path, { signal }),
    store.stat(location.path, { signal }),
  ]);
  if (!stored)
    throw new BackupFailure(
      'NotFound',
      `${object} is not in the store any more: put it back, with its record beside it`,
    );
  if (!record)
    throw new BackupFailure('NotFound', `${object}.json, the record of the backup, is not there: put it back`);
  requireSame(object, record.sha256, sha256);
  const hash = createHash('sha256');
  let bytes = 0;
  // An object that is longer than recorded is not read to its end.
  for await (const chunk of collected(store.read(location.path, { signal }))) {
    bytes += chunk.length;
    if (bytes > record.bytes) break;
    hash.update(chunk);
  }
  const found = hash.digest('hex');
  if (bytes === record.bytes && found === sha256) return record;
  const what =
    bytes === record.bytes
      ? `sha256 ${found}, recorded is ${sha256}`
      : `${stored.bytes} bytes, recorded are ${record.bytes}`;
  throw new BackupFailure('WrongDigest', `${object} has ${what}: it was changed or cut off after the backup`);
}
