import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { urlOf } from '../../../manifests/api/object-template.ts';
import { isVersion, minorOf, parseVersion } from '../../../manifests/api/version.ts';
import { attemptIn, restorePaths } from '../../../manifests/render/restore-paths.ts';
import { mayBeginAt, revisionsAhead } from '../../../manifests/render/revisions.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import { lastKeyIn, valueIn } from './bolt.ts';
import { isDirectory } from './disk.ts';
import { type FetchRequest, type FetchTools, fetchSnapshot } from './fetch.ts';
import { ignoreMissing } from './files.ts';
import { placeData, type Restorer, whatIsPresent } from './place.ts';
import type { BackupRecord } from './record.ts';
import type { SoundSnapshot } from './trailer.ts';

/**
 * A restore in three containers, since etcd's images have no shell and ours no etcd. Each attempt has its own names.
 */
export interface StagedRestore {
  readonly restorer: Restorer;
  /** etcd's, a subdirectory of the volume. */
  readonly dataDirectory: string;
}

export interface StageRequest extends StagedRestore, Pick<FetchRequest, 'location' | 'identities' | 'sha256'> {
  /** The version that is to run on the data. */
  readonly version: string;
  /** As the record says it, where the asker knows it. */
  readonly revision?: number;
  /** So many revisions ahead of the snapshot the restored store is to be. */
  readonly bump: number;
}

export interface Staged {
  readonly snapshot: SoundSnapshot;
  readonly record?: BackupRecord;
}

/**
 * Fetches and checks the snapshot for etcdutl, which makes the directory `data` beside it. Leftovers of earlier
 * attempts are deleted. @throws {BackupFailure} DataPresent, Superseded, NewerVersion, WrongRevision,
 * RevisionTooHigh, and those of `fetchSnapshot`
 */
export async function stageSnapshot(request: StageRequest, tools: FetchTools): Promise<Staged> {
  const { dataDirectory, restorer, version, revision, bump } = request;
  const paths = restorePaths(dataDirectory, restorer.attempt);
  await whatIsPresent(dataDirectory, restorer);
  await removeEarlier(dirname(dataDirectory), restorer);
  await mkdir(paths.directory, { recursive: true, mode: 0o700 });
  await rm(paths.data, { recursive: true, force: true });
  const accepts = (record: BackupRecord | undefined) => {
    requireRevision(urlOf(request.location), record, revision);
    if (record) requireNoNewer('the snapshot was taken by etcd', record.etcdVersion, version);
  };
  const fetched = await fetchSnapshot({ ...request, file: paths.snapshot, accepts }, tools);
  const found = await dataVersionOf(fetched.file);
  // Also of one that another tool took, which has no record.
  if (found !== undefined) requireNoNewer('the data in the snapshot are of etcd', found, version);
  const last = await lastRevisionOf(fetched.file);
  requireRoom(last, { asked: revision, bump });
  const staged = { snapshot: fetched.snapshot, ...(fetched.record && { record: fetched.record }) };
  await noteStaged(paths.directory, staged, Number(last ?? 0n) + bump);
  return staged;
}

/** For the containers that come after: what lies there for etcdutl, and with which revision its result begins. */
export async function noteStaged(directory: string, staged: Staged, begins: number): Promise<void> {
  await writeFile(noteIn(directory), JSON.stringify({ staged, begins } satisfies Note), { flush: true });
}

/**
 * Makes etcdutl's result the data directory, and deletes the snapshot; `undefined`: an earlier call had done it all.
 * @throws {BackupFailure} DataPresent, Superseded, NotRestorable
 */
export async function placeStaged({ dataDirectory, restorer }: StagedRestore): Promise<Staged | undefined> {
  const paths = restorePaths(dataDirectory, restorer.attempt);
  const volume = dirname(dataDirectory);
  await requireLatest(volume, restorer);
  const text = await readFile(noteIn(paths.directory), 'utf8').catch(ignoreMissing);
  if ((await whatIsPresent(dataDirectory, restorer)) !== 'made') {
    if (text === undefined) throw nothingMade(paths.data);
    await requireMade(paths.data);
    await placeData(paths.data, dataDirectory, restorer);
  }
  await rm(paths.directory, inUse);
  return text === undefined ? undefined : (JSON.parse(text) as Note).staged;
}

/** @throws {BackupFailure} NotRestorable: etcdutl has left no data there */
export async function requireMade(data: string): Promise<void> {
  if (!(await isDirectory(join(data, 'member')))) throw nothingMade(data);
}

function nothingMade(data: string): BackupFailure {
  return new BackupFailure('NotRestorable', `there is nothing restored in ${data}: see what container restore says`);
}

/** For what goes while the etcd of a trial may still make files in it: no directory of its stays empty for sure. */
export const inUse = { recursive: true, force: true, maxRetries: 8 } as const;

/** With which revision the restored store begins. `undefined`: nothing was staged. */
export async function revisionStaged(directory: string): Promise<number | undefined> {
  const text = await readFile(noteIn(directory), 'utf8').catch(ignoreMissing);
  return text === undefined ? undefined : (JSON.parse(text) as Note).begins;
}

/** What lies beside a staged snapshot, for the containers that come after. */
interface Note {
  readonly staged: Staged;
  readonly begins: number;
}

function noteIn(directory: string): string {
  return join(directory, 'staged.json');
}

async function attemptsOn(volume: string): Promise<readonly number[]> {
  return (await readdir(volume)).flatMap((name) => attemptIn(name) ?? []);
}

/** A pod that comes late must not work beside a later attempt's. */
async function requireLatest(volume: string, { attempt }: Restorer): Promise<void> {
  const later = (await attemptsOn(volume)).find((other) => other > attempt);
  if (later === undefined) return;
  throw new BackupFailure('Superseded', `attempt ${attempt} comes too late: attempt ${later} is on this volume`);
}

async function removeEarlier(volume: string, restorer: Restorer): Promise<void> {
  await requireLatest(volume, restorer);
  for (const attempt of await attemptsOn(volume)) {
    if (attempt >= restorer.attempt) continue;
    await rm(join(volume, `.restoring-${attempt}`), { recursive: true, force: true });
  }
}

/** @throws {BackupFailure} WrongRevision */
function requireRevision(object: string, record: BackupRecord | undefined, asked: number | undefined): void {
  if (asked === undefined || record?.revision === asked) return;
  const found = record ? `is of revision ${record.revision}` : 'has no record beside it that says its revision';
  throw new BackupFailure(
    'WrongRevision',
    `${object} ${found}, and ${asked} was asked for: name the backup of that revision, or correct the revision`,
  );
}

/**
 * etcdutl adds the bump to the last key's revision. Patches before 3.5.19 compact a deletion away that was the last
 * write, so the key may be a little behind. @throws {BackupFailure} WrongRevision, RevisionTooHigh
 */
function requireRoom(
  found: bigint | undefined,
  { asked = 0, bump }: { readonly asked?: number | undefined; readonly bump: number },
): void {
  const revision = Number(found ?? 0n);
  if (revision < asked - revisionsAhead / 2) {
    throw new BackupFailure(
      'WrongRevision',
      `the last key of the snapshot is of revision ${revision}, and ${asked} was asked for: name the backup of that revision, or correct the revision`,
    );
  }
  if (mayBeginAt(revision + bump)) return;
  throw new BackupFailure(
    'RevisionTooHigh',
    `the snapshot ends with revision ${revision}, and the restored store would begin ${bump} later, too near to 2^53, up to which clients read revisions exactly: use another backup`,
  );
}

/** @throws {BackupFailure} NewerVersion: etcd does not read data that a newer minor wrote. */
function requireNoNewer(what: string, found: string, version: string): void {
  if (!isVersion(found) || minorOf(parseVersion(found)) <= minorOf(parseVersion(version))) return;
  throw new BackupFailure(
    'NewerVersion',
    `${what} ${found}, and spec.version is ${version}: set spec.version to ${found} or later, or use an older backup`,
  );
}

/**
 * The version of a snapshot's data: an etcd of a lower minor does not start on them. From 3.6 on it is their own;
 * before, that of the cluster, which follows its last member. `undefined`: they do not say.
 */
export async function dataVersionOf(file: string): Promise<string | undefined> {
  const said = (await valueIn(file, 'meta', 'storageVersion')) ?? (await valueIn(file, 'cluster', 'clusterVersion'));
  const version = said?.toString('latin1') ?? '';
  return isVersion(version) ? version : undefined;
}

/** A key of etcd's store begins with its revision. `undefined`: nothing was written. */
export async function lastRevisionOf(file: string): Promise<bigint | undefined> {
  const key = await lastKeyIn(file, 'key');
  return key !== undefined && key.length >= 8 ? key.readBigUInt64BE(0) : undefined;
}
