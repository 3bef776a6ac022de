import { mkdir, rm } from 'node:fs/promises';
import { scratchLayout } from '../../../manifests/render/scratch.ts';
import { connectEtcd } from '../../clients/etcd.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import { compareRestored, type Proof } from './compare.ts';
import { type Fetched, type FetchRequest, type FetchTools, fetchSnapshot } from './fetch.ts';
import type { BackupRecord } from './record.ts';
import { makeScratchTls, readScratchTls } from './scratch-tls.ts';
import { untilServed } from './served.ts';

/**
 * A drill in several containers, because etcd's images have no shell and ours has no etcd: one stages the snapshot,
 * `etcdutl` restores it, etcd serves it on loopback, and one compares.
 */

type StageRequest = Omit<FetchRequest, 'file'> & { readonly directory: string };

/**
 * Empties the directory, and fetches the snapshot and certificates for the etcd of this drill into it. A pod whose
 * containers all run again begins anew. @throws {BackupFailure}
 */
export async function stageDrill(
  { directory, ...request }: StageRequest,
  tools: FetchTools & { readonly now: () => Date },
): Promise<Fetched> {
  const { drill, snapshot, tls } = scratchLayout(directory);
  await rm(drill, { recursive: true, force: true });
  await mkdir(drill, { recursive: true });
  await makeScratchTls(tls, tools.now());
  return await fetchSnapshot({ ...request, file: snapshot }, tools);
}

export interface CompareRequest {
  readonly directory: string;
  readonly endpoint: string;
  readonly record: BackupRecord;
  /** How long etcd may take until it answers, in milliseconds. */
  readonly startMs: number;
}

/** @throws {BackupFailure} Mismatch; Unreachable where etcd does not come to answer. */
export async function compareStaged(request: CompareRequest, signal: AbortSignal): Promise<Proof> {
  const { directory, endpoint, record, startMs } = request;
  const client = connectEtcd({ tls: await readScratchTls(scratchLayout(directory).tls), callTimeoutMs: 5_000 });
  try {
    const refused = await untilServed(client, endpoint, startMs, signal);
    if (refused !== undefined) throw notServed(record, refused);
    return await compareRestored(client, endpoint, record, signal);
  } finally {
    client.close();
  }
}

function notServed({ object }: BackupRecord, said: string): BackupFailure {
  return new BackupFailure(
    'Unreachable',
    `etcd does not serve what was restored of ${object}: ${said}; look at the log of the pod's container etcd`,
  );
}
