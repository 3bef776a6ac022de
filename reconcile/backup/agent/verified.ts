import { verifiedSuffix } from '../../../manifests/api/object-template.ts';
import { isPlainObject } from '../../../manifests/api/plain-data.ts';
import { jsonIn } from '../../../manifests/json.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import type { Store, StoreOptions } from '../stores/store.ts';
import type { Proof } from './compare.ts';
import { readSmall } from './read-small.ts';
import type { BackupRecord } from './record.ts';

/**
 * The proof that an object was restored and compared, beside it as `<object>.verified.json`, for a bucket's listing.
 */
interface Verified {
  readonly format: 1;
  /** Like `<scheme>://bucket/path`. */
  readonly object: string;
  /** Of the object as it is stored. Hex. */
  readonly sha256: string;
  /** Of the etcd that was started on it. */
  readonly etcdVersion: string;
  /** Everything that was acknowledged up to it was found in the restored store. */
  readonly revision: number;
  /** Of the key space at that revision, as both members gave it; `null` where etcd gave none that compares. */
  readonly hash: number | null;
  /** RFC 3339. */
  readonly verifiedAt: string;
}

/** More would be none of ours. Bytes. */
const largest = 16 * 1024;

/** Written once: a second proof changes nothing. @throws {BackupFailure} Exists for another object's proof */
export async function writeVerified(
  store: Store,
  name: string,
  { record, proof, at }: { readonly record: BackupRecord; readonly proof: Proof; readonly at: Date },
  options: StoreOptions,
): Promise<void> {
  const verified: Verified = {
    format: 1,
    object: record.object,
    sha256: record.sha256,
    etcdVersion: proof.etcdVersion,
    revision: record.revision,
    hash: proof.hashKV?.hash ?? null,
    verifiedAt: at.toISOString(),
  };
  const path = `${name}${verifiedSuffix}`;
  try {
    await store.put(path, once(Buffer.from(`${JSON.stringify(verified, null, 2)}\n`)), options);
  } catch (error) {
    if (!(error instanceof BackupFailure) || error.reason !== 'Exists') throw error;
    if (await isProofOf(store, name, record, options)) return;
    throw new BackupFailure(
      'Exists',
      `${store.place}/${path} tells of another object: delete it, and verify ${record.object} again`,
      error,
    );
  }
}

/** Whether the proof beside an object tells of this very backup: a file of that name alone proves nothing. */
export async function isProofOf(
  store: Store,
  name: string,
  { object, sha256, revision }: BackupRecord,
  options: StoreOptions,
): Promise<boolean> {
  const said = await readBeside(store, `${name}${verifiedSuffix}`, options);
  if (!isPlainObject(said)) return false;
  return said.format === 1 && said.object === object && said.sha256 === sha256 && said.revision === revision;
}

/** `undefined` where there is none, or no JSON. */
async function readBeside(store: Store, path: string, options: StoreOptions): Promise<unknown> {
  const read = await readSmall(store, path, largest, options);
  return read === undefined || read === 'too large' ? undefined : jsonIn(read.toString('utf8'));
}

async function* once(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk;
}
