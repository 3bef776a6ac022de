import { isPlainObject } from '../../manifests/api/plain-data.ts';
import { isVersion } from '../../manifests/api/version.ts';
import { jsonIn } from '../../manifests/json.ts';
import { type FailureReason, failures } from '../jobs/failure.ts';
import type { Proof } from './agent/compare.ts';
import { type BackupRecord, isCount, problemOfRecord } from './agent/record.ts';

/** What the agent said at its end, as far as it can be believed: any pod of that namespace could have written it. */
export type Said =
  | { readonly kind: 'record'; readonly record: BackupRecord }
  | { readonly kind: 'proof'; readonly proof: Proof & { readonly tookMs: number } }
  | { readonly kind: 'failure'; readonly reason: FailureReason; readonly message: string };

/** Kubernetes keeps so much of a termination message, in characters. */
const longest = 4_096;
const longestMessage = 1_500;

/** A termination message; `undefined` where it is none of the agent's. */
export function parseSaid(message: string): Said | undefined {
  if (message.length > longest) return undefined;
  const value = jsonIn(message);
  // Cut off, or another program's.
  if (!isPlainObject(value)) return undefined;
  if (value.ok !== true) return failureIn(value);
  if (value.operation === 'compare') return proofIn(value.proof);
  const tellsRecord = value.operation === 'backup' || value.operation === 'look';
  if (!tellsRecord || problemOfRecord(value.record) !== undefined) return undefined;
  const record = value.record as BackupRecord;
  return fitsStatus(record) ? { kind: 'record', record } : undefined;
}

/** The CRD's own bounds: the API server refuses a status that is beyond them, at every step anew. */
function fitsStatus({ object, etcdVersion, clusterId, takenAt }: BackupRecord): boolean {
  return (
    object.length <= 1100 &&
    isVersion(etcdVersion) &&
    /^[0-9a-f]{1,16}$/.test(clusterId) &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(takenAt)
  );
}

function failureIn({ reason, message }: Record<string, unknown>): Said | undefined {
  if (typeof reason !== 'string' || !Object.hasOwn(failures, reason) || typeof message !== 'string') return undefined;
  return { kind: 'failure', reason: reason as FailureReason, message: oneLine(message) };
}

function proofIn(value: unknown): Said | undefined {
  if (!isPlainObject(value)) return undefined;
  const { revision, hashKV, etcdVersion, tookMs } = value;
  const isSound =
    isCount(revision) &&
    isCount(tookMs) &&
    typeof etcdVersion === 'string' &&
    /^[0-9A-Za-z.+-]{1,32}$/.test(etcdVersion) &&
    (hashKV === null || isHash(hashKV));
  if (!isSound) return undefined;
  return { kind: 'proof', proof: { revision, hashKV: hashKV === null ? null : hashOf(hashKV), etcdVersion, tookMs } };
}

type Hash = NonNullable<Proof['hashKV']>;

function isHash(value: unknown): value is Hash {
  return (
    isPlainObject(value) &&
    isCount(value.hash) &&
    isCount(value.revision) &&
    Number.isSafeInteger(value.compactRevision) &&
    Number(value.compactRevision) >= -1
  );
}

function hashOf({ hash, revision, compactRevision }: Hash): Hash {
  return { hash, revision, compactRevision };
}

/** For a status: no control characters, and no more than a person reads. */
export function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, longestMessage);
}
