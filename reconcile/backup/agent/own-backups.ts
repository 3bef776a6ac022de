import { type ObjectLocation, recordSuffix, urlOf, verifiedSuffix } from '../../../manifests/api/object-template.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import { inParallel } from '../../stepping/in-parallel.ts';
import type { Store, StoredObject, StoreOptions } from '../stores/store.ts';
import { type BackupRecord, readRecord } from './record.ts';
import type { KnownBackup } from './retention.ts';
import { isProofOf } from './verified.ts';

/** One backup of a schedule as it lies in a store, with all that goes with it. */
export interface OwnBackup extends KnownBackup {
  /** Of the EtcdBackup that asked for it. */
  readonly id: string;
  readonly object: StoredObject;
  readonly record: StoredObject;
  readonly marker: StoredObject | undefined;
}

export interface OwnBackups {
  readonly backups: readonly OwnBackup[];
  /** Records of this schedule whose object is gone, each with its marker: what a retention that was killed left. */
  readonly remains: readonly Pick<OwnBackup, 'record' | 'marker'>[];
  /** Objects that stay: people's own, other schedules', torn, changed or unreadable ones. */
  readonly others: number;
}

/** Beyond it, reading all records would take hours. */
const mostObjects = 100_000;
/** Records that are read at a time. */
const parallel = 16;

/**
 * A schedule's backups under a prefix: those with a record of the right shape that bears the schedule's UID and names
 * the very object beside it. Only these may ever be deleted. @throws {BackupFailure}
 */
export async function findOwnBackups(
  store: Store,
  { location, schedule }: { readonly location: ObjectLocation; readonly schedule: string },
  options: StoreOptions,
): Promise<OwnBackups> {
  const listed = await listAll(store, location, options);
  const records = [...listed.values()].filter(
    ({ name }) => name.endsWith(recordSuffix) && !name.endsWith(verifiedSuffix),
  );
  const found = await inParallel(records, parallel, async (stored) => {
    options.signal.throwIfAborted();
    const name = stored.name.slice(0, -recordSuffix.length);
    const record = await ownRecord(store, { ...location, path: name }, schedule, options);
    if (record === undefined) return undefined;
    const marker = listed.get(`${name}${verifiedSuffix}`);
    const object = listed.get(name);
    if (object === undefined) return { remains: { record: stored, marker } };
    if (object.version !== record.version || object.bytes !== record.bytes) return undefined;
    const { id, clusterId, revision } = record;
    const takenAt = new Date(record.takenAt);
    const asked = record.askedAt !== undefined && { askedAt: new Date(record.askedAt) };
    const verified = marker !== undefined && (await isProven(store, name, record, options));
    if (verified === 'unknown') return undefined;
    return { backup: { name, id, takenAt, ...asked, revision, clusterId, verified, object, record: stored, marker } };
  });
  const backups = found.flatMap((one) => (one?.backup ? [one.backup] : []));
  const gone = found.flatMap((one) => (one?.remains ? [one.remains] : []));
  const own = [...backups.map(({ object }) => object), ...[...backups, ...gone].flatMap(companions)];
  return { backups, remains: gone, others: listed.size - own.length };
}

function companions({ record, marker }: Pick<OwnBackup, 'record' | 'marker'>): readonly StoredObject[] {
  return marker === undefined ? [record] : [record, marker];
}

async function listAll(
  store: Store,
  location: ObjectLocation,
  options: StoreOptions,
): Promise<ReadonlyMap<string, StoredObject>> {
  const listed = new Map<string, StoredObject>();
  let seen = 0;
  for await (const object of store.list(location.path, options)) {
    options.signal.throwIfAborted();
    listed.set(object.name, object);
    seen += 1;
    if (seen <= mostObjects) continue;
    throw new BackupFailure(
      'TooMany',
      `${urlOf(location)} begins the names of more than ${mostObjects} objects: give each schedule a prefix of its own`,
    );
  }
  return listed;
}

/** A record that can't be understood is another's: it keeps its object. */
async function ownRecord(
  store: Store,
  location: ObjectLocation,
  schedule: string,
  options: StoreOptions,
): Promise<BackupRecord | undefined> {
  try {
    const record = await readRecord(store, location.path, options);
    return record?.schedule === schedule && record.object === urlOf(location) ? record : undefined;
  } catch (error) {
    if (isStrange(error)) return undefined;
    throw error;
  }
}

/** A proof that can't be read, or changes while it is, may be that of the only backup that counts: that one stays. */
async function isProven(
  store: Store,
  name: string,
  record: BackupRecord,
  options: StoreOptions,
): Promise<boolean | 'unknown'> {
  try {
    return await isProofOf(store, name, record, options);
  } catch (error) {
    if (isStrange(error)) return 'unknown';
    throw error;
  }
}

function isStrange(error: unknown): boolean {
  return error instanceof BackupFailure && ['StoreRefused', 'Changed', 'NotFound'].includes(error.reason);
}
