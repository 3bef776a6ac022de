import { type ObjectLocation, urlOf } from '../../../manifests/api/object-template.ts';
import type { EtcdSnapshots } from '../../clients/etcd-snapshot.ts';
import { EtcdError } from '../../interfaces/etcd.ts';
import type { KvHash } from '../../interfaces/etcd-admin.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import type { Store } from '../stores/store.ts';
import { collected } from './collected.ts';
import { type Encoding, encoded, isPlain, type Whole } from './encoding.ts';
import { type BackupRecord, readRecord, writeRecord } from './record.ts';
import { type AskedEtcd, chooseSource, type Source } from './source.ts';
import { checkedTrailer, type SoundSnapshot } from './trailer.ts';

export interface TakeRequest {
  /** The asker, so that a repeated request finds what it made: the UID of an EtcdBackup. */
  readonly id: string;
  /** The UID of the EtcdBackupSchedule that it belongs to. */
  readonly schedule?: string;
  /** When it was asked for. RFC 3339. */
  readonly askedAt?: string;
  readonly location: ObjectLocation;
  readonly endpoints: readonly string[];
  readonly clusterId?: string;
  readonly encoding: Encoding;
}

export interface TakeTools {
  readonly etcd: AskedEtcd;
  readonly snapshots: Pick<EtcdSnapshots, 'snapshot'>;
  readonly store: Store;
  readonly signal: AbortSignal;
  /** For everything, in milliseconds. */
  readonly timeoutMs: number;
  readonly now: () => Date;
}

/** A member reads its whole database for it, beside the snapshot. */
const hashTimeoutMs = 15 * 60_000;

/** How often a snapshot is begun anew because its revision was compacted away before it could be hashed. */
const attempts = 3;

/** One backup, from the choice of a member to the record beside the object. @throws {BackupFailure | EtcdError} */
export async function takeBackup(request: TakeRequest, tools: TakeTools): Promise<BackupRecord> {
  const { store, signal } = tools;
  const earlier = await readRecord(store, request.location.path, { signal });
  if (earlier?.id === request.id) return earlier;
  if (earlier !== undefined || (await store.stat(request.location.path, { signal })) !== undefined)
    throw new BackupFailure(
      'Exists',
      `${urlOf(request.location)} exists already, and a backup replaces nothing: choose another name, as by {{timestamp}}`,
    );
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptBackup(request, tools);
    } catch (error) {
      const again = error instanceof BackupFailure && error.reason === 'CompactedMeanwhile';
      if (!again || attempt === attempts) throw error;
    }
  }
}

async function attemptBackup(request: TakeRequest, tools: TakeTools): Promise<BackupRecord> {
  const { store, signal, now } = tools;
  const takenAt = now();
  const source = await chooseSource(tools.etcd, request.endpoints, { ...request, signal });
  let facts: Facts | undefined;
  let snapshot: SoundSnapshot | undefined;
  let whole: Whole | undefined;
  // The store makes an object of what has ended, and this ends only when the snapshot is sound and its facts are known.
  const sent = tools.snapshots.snapshot(source.endpoint, tools);
  const observed = withFacts(
    collected(sent),
    () => factsOf(source, tools),
    (found) => {
      facts = found;
    },
  );
  const checked = checkedTrailer(observed, (found) => {
    snapshot = found;
    // Hashed once: as it is, it is what goes to the store.
    if (isPlain(request.encoding)) whole = found;
  });
  const body = isPlain(request.encoding)
    ? checked
    : encoded(checked, request.encoding, (found) => {
        whole = found;
      });
  const stored = await store.put(request.location.path, body, { signal });
  if (facts === undefined || snapshot === undefined || whole === undefined || stored.bytes !== whole.bytes)
    throw new BackupFailure(
      'Changed',
      `${urlOf(request.location)} has ${stored.bytes} bytes as soon as it was stored, and ${whole?.bytes} were sent`,
    );
  const record: BackupRecord = {
    format: 1,
    id: request.id,
    ...(request.schedule !== undefined && { schedule: request.schedule }),
    ...(request.askedAt !== undefined && { askedAt: request.askedAt }),
    object: urlOf(request.location),
    bytes: whole.bytes,
    sha256: whole.sha256,
    version: stored.version,
    snapshot,
    compression: request.encoding.compression,
    encryption: request.encoding.recipients === undefined ? 'none' : 'age',
    etcdVersion: source.version,
    clusterId: source.clusterId,
    memberId: source.memberId,
    ...facts,
    takenAt: takenAt.toISOString(),
    tookMs: now().getTime() - takenAt.getTime(),
  };
  await writeRecord(store, request.location.path, record, { signal });
  return record;
}

type Facts = Pick<BackupRecord, 'revision' | 'revisionAtMost' | 'hashKV'>;

/** Asks for the facts as soon as etcd has made the snapshot, which it has when it sends the first of it. */
async function* withFacts(
  chunks: AsyncIterable<Uint8Array>,
  ask: () => Promise<Facts>,
  found: (facts: Facts) => void,
): AsyncGenerator<Uint8Array> {
  let asked: Promise<Facts> | undefined;
  let failed: { readonly error: unknown } | undefined;
  for await (const chunk of chunks) {
    if (asked === undefined) {
      asked = ask();
      asked.catch((error: unknown) => {
        failed = { error };
      });
    }
    // Rather now than after gigabytes.
    if (failed !== undefined) throw failed.error;
    yield chunk;
  }
  if (asked !== undefined) found(await asked);
}

/**
 * A snapshot does not name its revision. The member's revisions before and after are its bounds, and the hash is of the
 * lower one, at which both the member and the restored snapshot can be asked for it.
 */
async function factsOf(source: Source, { etcd, signal }: TakeTools): Promise<Facts> {
  const { endpoint, revision, memberId } = source;
  const after = await etcd.status(endpoint, { signal });
  if (after.memberId !== memberId)
    throw new BackupFailure(
      'EtcdRefused',
      `${endpoint} became another member while it sent the snapshot: back up again`,
    );
  const hash = await hashAt(source, etcd, signal);
  return {
    revision: Number(revision),
    revisionAtMost: Number(after.revision),
    hashKV: hash && {
      hash: hash.hash,
      revision: Number(hash.hashRevision),
      compactRevision: Number(hash.compactRevision),
    },
  };
}

async function hashAt(
  { endpoint, revision, clusterId }: Source,
  etcd: AskedEtcd,
  signal: AbortSignal,
): Promise<KvHash | null> {
  try {
    const hash = await etcd.hashKv(endpoint, { signal, revision, timeoutMs: hashTimeoutMs });
    // Of the very revision that was compacted up to, a member gives the hash that it took before. An empty store has
    // no history.
    const compares = revision < 2n || (await etcd.hasHistory([endpoint], revision, { signal, clusterId }));
    return compares ? hash : null;
  } catch (error) {
    if (!(error instanceof EtcdError) || error.reason !== 'Compacted') throw error;
    throw new BackupFailure(
      'CompactedMeanwhile',
      `revision ${revision} was compacted away before it could be hashed: keep the last minutes when you compact, then back up again`,
      error,
    );
  }
}
