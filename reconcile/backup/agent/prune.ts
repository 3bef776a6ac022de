import { recordSuffix } from '../../../manifests/api/object-template.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import { isLocked } from '../stores/failures.ts';
import type { Store, StoreOptions } from '../stores/store.ts';
import { findOwnBackups, type OwnBackup } from './own-backups.ts';
import type { PruneAsked } from './request.ts';
import { retain } from './retention.ts';

/** What retention did, or with `dryRun` would do. */
export interface Pruned {
  readonly dryRun: boolean;
  readonly kept: number;
  /** Of those: what holds an earlier life of the cluster. */
  readonly earlierLives: number;
  readonly removed: number;
  /** Which: the first of them, without the prefix. */
  readonly names: readonly string[];
  /** Backups that are to go and are left to the next run. */
  readonly left: number;
  /** Of those: what the store locks. */
  readonly locked: number;
  /** Objects under the prefix that are none of the schedule's, and stay. */
  readonly others: number;
}

/** A termination message holds 4,096 bytes. */
const mostNames = 20;
const mostCharacters = 1_500;

/**
 * Deletes at most `most` backups beyond a schedule's retention, the oldest first: its proof, the object, then the
 * record. Killed in between, it leaves no incomplete backup that counts as proven, and the next run finds the record,
 * which alone has the owner. What the store locks stays whole, and the others go.
 * @throws {BackupFailure} What went until then was told to `noted`
 */
export async function prune(
  request: PruneAsked,
  { store, signal, now }: { readonly store: Store; readonly signal: AbortSignal; readonly now: () => Date },
  noted: (so: Pruned) => void,
): Promise<void> {
  const { location, schedule, keep, timeZone, most, dryRun = false, spare = [] } = request;
  const options: StoreOptions = { signal };
  const { backups, remains, others } = await findOwnBackups(store, { location, schedule }, options);
  // A Job reads or proves it at this moment: it is counted when that is over.
  const underWay = backups.filter(({ id }) => spare.includes(id));
  const rest = backups.filter(({ id }) => !spare.includes(id));
  const { kept, earlierLives, removed } = retain({ backups: rest, keep, timeZone, now: now() });
  const gone: OwnBackup[] = [];
  let locked = 0;
  const tell = (which: readonly OwnBackup[]) =>
    noted({
      dryRun,
      kept: kept.length + underWay.length,
      earlierLives: earlierLives.length,
      removed: which.length,
      names: first(which, location.path),
      left: removed.length - which.length,
      locked,
      others,
    });
  tell(dryRun ? removed.slice(0, most) : gone);
  if (dryRun) return;
  let cleared = 0;
  for (const one of remains) {
    if (cleared === most) break;
    signal.throwIfAborted();
    if (await unlessLocked(() => finish(one, store, options))) cleared += 1;
  }
  // However many are locked: the Job's deadline ends the looks.
  for (const one of removed) {
    if (gone.length === most) break;
    signal.throwIfAborted();
    if (await remove(one, { store, options, now })) gone.push(one);
    else locked += 1;
    tell(gone);
  }
}

interface Removing {
  readonly store: Store;
  readonly options: StoreOptions;
  readonly now: () => Date;
}

/** Whether it went. A backup whose object is locked keeps its proof; a record that is locked is left to a later run. */
async function remove({ marker, object, record }: OwnBackup, { store, options, now }: Removing): Promise<boolean> {
  const found = await store.stat(object.name, options);
  if (found && isLocked(found, now())) return false;
  const isGone = await unlessLocked(async () => {
    if (marker !== undefined) await store.delete(marker, options);
    await store.delete(object, options);
  });
  if (isGone) await unlessLocked(() => store.delete(record, options));
  return isGone;
}

async function unlessLocked(act: () => Promise<void>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (error instanceof BackupFailure && error.reason === 'Locked') return false;
    throw error;
  }
}

/** A backup that was just made may be listed by its record alone: its object is looked for by name first. */
async function finish(
  { record, marker }: Pick<OwnBackup, 'record' | 'marker'>,
  store: Store,
  options: StoreOptions,
): Promise<void> {
  if ((await store.stat(record.name.slice(0, -recordSuffix.length), options)) !== undefined) return;
  if (marker !== undefined) await store.delete(marker, options);
  await store.delete(record, options);
}

function first(backups: readonly OwnBackup[], prefix: string): readonly string[] {
  const names: string[] = [];
  let characters = 0;
  for (const { name } of backups.slice(0, mostNames)) {
    const short = name.slice(prefix.length);
    characters += short.length;
    if (characters > mostCharacters) break;
    names.push(short);
  }
  return names;
}
