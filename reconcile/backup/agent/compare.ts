import type { EtcdAdmin } from '../../interfaces/etcd-admin.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import type { BackupRecord } from './record.ts';
import { compareTimeoutMs } from './served.ts';

export interface Proof {
  /** Of the restored store. */
  readonly revision: number;
  /** `null`: there was nothing to compare with, as of a snapshot that another tool took. */
  readonly hashKV: { readonly hash: number; readonly revision: number; readonly compactRevision: number } | null;
  readonly etcdVersion: string;
}

export type ComparedEtcd = Pick<EtcdAdmin, 'status' | 'hashKv' | 'compact'>;

/**
 * Compares an etcd that runs on a restored snapshot with the record of its source. It may be compacted for that, so it
 * must not be in service. @throws {BackupFailure} Mismatch
 */
export async function compareRestored(
  etcd: ComparedEtcd,
  endpoint: string,
  record: BackupRecord | undefined,
  signal: AbortSignal,
): Promise<Proof> {
  const { revision, version, clusterId } = await etcd.status(endpoint, { signal });
  const proof = { revision: Number(revision), hashKV: null, etcdVersion: version };
  if (record === undefined) return proof;
  if (Number(revision) < record.revision)
    throw mismatch(
      record,
      `it has revision ${revision} where at least ${record.revision} was acknowledged before it was taken`,
    );
  if (record.hashKV === null) return proof;
  const recorded = record.hashKV;
  const at = { signal, revision: BigInt(recorded.revision), timeoutMs: compareTimeoutMs };
  let hash = await etcd.hashKv(endpoint, at);
  if (hash.compactRevision < BigInt(recorded.compactRevision)) {
    // The member was compacted between the snapshot and its hash: the same is done here, so that both leave out the
    // same.
    const options = { signal, clusterId, timeoutMs: compareTimeoutMs };
    await etcd.compact([endpoint], BigInt(recorded.compactRevision), options);
    hash = await etcd.hashKv(endpoint, at);
  }
  const found = { hash: hash.hash, revision: recorded.revision, compactRevision: Number(hash.compactRevision) };
  if (found.hash === recorded.hash && found.compactRevision === recorded.compactRevision)
    return { ...proof, hashKV: found };
  throw mismatch(record, `its hash is ${words(found)}, and the member that sent it had ${words(recorded)}`);
}

function words({ hash, revision, compactRevision }: NonNullable<BackupRecord['hashKV']>): string {
  return `${hash} at revision ${revision}, compacted to ${compactRevision}`;
}

function mismatch(record: BackupRecord, what: string): BackupFailure {
  return new BackupFailure(
    'Mismatch',
    `${record.object} is not what was backed up: restored, ${what}; keep older backups, back up again, and compare the members' hashes`,
  );
}
