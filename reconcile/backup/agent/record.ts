import { isSha256 } from '../../../manifests/api/identifiers.ts';
import { recordSuffix } from '../../../manifests/api/object-template.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import type { Store, StoreOptions } from '../stores/store.ts';
import { readSmall } from './read-small.ts';

/** The facts of a backup, beside the object as `<object>.json`. Written last: without a record there is no backup. */
export interface BackupRecord {
  readonly format: 1;
  /** The asker, as the request names it: the UID of an EtcdBackup. */
  readonly id: string;
  /** The UID of the EtcdBackupSchedule that asked for it: only that one's retention may delete it. */
  readonly schedule?: string;
  /** When that EtcdBackup was made, by the API server's clock. RFC 3339. Absent: an earlier release took it. */
  readonly askedAt?: string;
  /** Like `<scheme>://bucket/path`. */
  readonly object: string;
  /** Of the object as it is stored. */
  readonly bytes: number;
  /** Of the object as it is stored. Hex. */
  readonly sha256: string;
  /** The store's own word for this very object. */
  readonly version: string;
  /** What etcd sent, before it was compressed and encrypted. The digest is that of the whole file. */
  readonly snapshot: { readonly bytes: number; readonly sha256: string };
  readonly compression: 'none' | 'gzip' | 'zstd';
  readonly encryption: 'none' | 'age';
  /** Of the member that sent it. */
  readonly etcdVersion: string;
  readonly clusterId: string;
  readonly memberId: string;
  /** All that was acknowledged up to this revision is in it. Read of the member before it made the snapshot. */
  readonly revision: number;
  /** Nothing after this revision is in it. Read of the member after it had made the snapshot. */
  readonly revisionAtMost: number;
  /** `null`: the revision is one that was just compacted up to, of which etcd gives no hash that compares. */
  readonly hashKV: { readonly hash: number; readonly revision: number; readonly compactRevision: number } | null;
  /** When the agent began, by its own clock. RFC 3339. */
  readonly takenAt: string;
  /** From there until the object was stored, in milliseconds. */
  readonly tookMs: number;
}

/** More would be none of ours. Bytes. */
const largest = 64 * 1024;

export async function writeRecord(
  store: Store,
  name: string,
  record: BackupRecord,
  options: StoreOptions,
): Promise<void> {
  const text = `${JSON.stringify(record, null, 2)}\n`;
  await store.put(`${name}${recordSuffix}`, once(Buffer.from(text)), options);
}

/** `undefined`: there is no record. The object may be a person's own snapshot, or an upload that never finished. */
export async function readRecord(store: Store, name: string, options: StoreOptions): Promise<BackupRecord | undefined> {
  const path = `${name}${recordSuffix}`;
  const read = await readSmall(store, path, largest, options);
  if (read === undefined) return undefined;
  if (read === 'too large') throw notARecord(store, path, `it has more than ${largest} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(read.toString('utf8'));
  } catch (cause) {
    throw notARecord(store, path, 'it is no JSON', cause);
  }
  const problem = problemOfRecord(value);
  if (problem !== undefined) throw notARecord(store, path, problem);
  return value as BackupRecord;
}

const shape = {
  format: isOne,
  id: isText,
  schedule: (value) => value === undefined || isText(value),
  askedAt: (value) => value === undefined || isTime(value),
  object: isText,
  bytes: isCount,
  sha256: isSha256,
  version: isText,
  snapshot: (value) => isObject(value) && isCount(value.bytes) && isSha256(value.sha256),
  compression: (value) => value === 'none' || value === 'gzip' || value === 'zstd',
  encryption: (value) => value === 'none' || value === 'age',
  etcdVersion: isText,
  clusterId: isText,
  memberId: isText,
  revision: isCount,
  revisionAtMost: isCount,
  hashKV: (value) =>
    value === null ||
    (isObject(value) && isCount(value.hash) && isCount(value.revision) && Number.isSafeInteger(value.compactRevision)),
  takenAt: isTime,
  tookMs: isCount,
} as const satisfies Record<keyof BackupRecord, (value: unknown) => boolean>;

/** Says why text that others wrote is no record; `undefined` where it is one. */
export function problemOfRecord(value: unknown): string | undefined {
  if (!isObject(value)) return 'it is no object';
  const wrong = Object.entries(shape).find(([field, holds]) => !holds(value[field]));
  return wrong && `its field ${wrong[0]} is absent or wrong`;
}

function notARecord(store: Store, path: string, what: string, cause?: unknown): BackupFailure {
  const cure =
    'a newer agent may have written it: use that one, or restore the object by another name, without a record';
  return new BackupFailure(
    'StoreRefused',
    `${store.place}/${path} is not the record of a backup: ${what}; ${cure}`,
    cause,
  );
}

async function* once(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isOne(value: unknown): boolean {
  return value === 1;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 4096;
}

function isTime(value: unknown): boolean {
  return isText(value) && !Number.isNaN(Date.parse(value));
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
