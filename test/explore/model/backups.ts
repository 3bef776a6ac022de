import { isHigher } from '../../../manifests/api/version.ts';
import { type BackupWish, backupBeforeName, type Occasion } from '../../../manifests/render/backup-before.ts';
import { backupAhead } from '../../../reconcile/cluster/know/backups/ahead.ts';
import { hibernationBackupOf } from '../../../reconcile/cluster/know/backups/hibernation-backup.ts';
import type { AwaitedBackupView, NamedBackup, Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import type { AskedBackup } from './backup-state.ts';
import { revisionOfSnapshots } from './clients.ts';
import { serving } from './etcd.ts';
import type { World } from './state.ts';

/** EtcdBackups that a cluster asks for before it changes or goes. Who takes them is left out: they end, or fail. */

const minute = 60_000;
const ages: Readonly<Record<AskedBackup['age'], number>> = { 0: 1000, 1: 3 * minute, 2: 180 * minute };

/** Members that ran on after a backup wrote one thing more. */
export function revisionSince({ backups = [] }: World): number {
  const known = backups.map(({ holds, outrun }) => (holds?.revision ?? revisionOfSnapshots) + (outrun ? 1 : 0));
  return Math.max(revisionOfSnapshots, ...known);
}

/** As `observe` reads it: the newest of those that were made for this wish. */
export function awaitedIn(
  { backups = [] }: World,
  { at, ...seen }: Pick<Observation, 'cluster' | 'slots' | 'at' | 'hibernationBackup'>,
): AwaitedBackupView | undefined {
  const { cluster } = seen;
  const wish = cluster.spec.backup && backupAhead(seen);
  if (!wish) return undefined;
  const { before } = wish;
  const first = backupBeforeName(cluster, wish);
  let found = backups.find(({ name }) => name === first);
  if (!found) return { kind: 'missing', before, name: first, wish };
  for (let left = backups.length; left > 0; left -= 1) {
    const next = { ...wish, after: uidOf(found) };
    const name = backupBeforeName(cluster, next);
    const later: AskedBackup | undefined = found.old && backups.find((one) => one.name === name);
    if (!later) return { ...viewOf(found, before, at), ...(found.old && { tooOld: { name, wish: next } }) };
    found = later;
  }
  return viewOf(found, before, at);
}

function uidOf({ name }: AskedBackup): string {
  return `uid-of-${name}`;
}

function viewOf(backup: AskedBackup, before: Occasion, at: Date) {
  const { name, state, age, holds } = backup;
  const askedAt = new Date(at.getTime() - ages[age]);
  const ended = { uid: uidOf(backup), at: at.toISOString(), revision: holds?.revision ?? revisionOfSnapshots };
  const known = { kind: 'known', before, name, state, message: 'as it is', askedAt } as const;
  return state === 'good' ? { ...known, ended } : known;
}

/** As `observe` reads it, of a cluster that is being deleted. */
export function hibernationBackupIn({ backups = [], cluster }: World, slots: readonly Slot[]): NamedBackup | undefined {
  const wanted = cluster.deleting && cluster.owesBackup ? hibernationBackupOf(slots) : undefined;
  if (!wanted) return undefined;
  const { name, uid, clusterId } = wanted;
  const found = backups.find((one) => uidOf(one) === uid && one.state === 'good');
  if (!found) return { name, kind: 'unfit', why: 'there is none of that name' };
  return { name, kind: 'fit', backup: { name, uid, clusterId, snapshot: { object: objectOf(found) } } };
}

export function objectOf({ name }: Pick<AskedBackup, 'name'>): string {
  return `gs://backups/${name}.db`;
}

/** Members run on what was put to sleep: what they write is in no backup that was taken before. */
export function outrunBackups(world: World): World {
  const isOfSleep = ({ before, state, outrun }: AskedBackup) => before === 'hibernation' && state === 'good' && !outrun;
  return changed(world, isOfSleep, (one) => ({ ...one, outrun: true })) ?? world;
}

export function madeBackup(world: World, name: string, { before, existing }: BackupWish): World {
  const looksFor = existing && { looksFor: existing.object };
  const made: AskedBackup = { name, before, state: 'under-way', age: 0, ...looksFor };
  return { ...world, backups: [...(world.backups ?? []), made] };
}

/** Another one in the place of each that is so. */
function changed(
  world: World,
  is: (backup: AskedBackup) => boolean,
  change: (backup: AskedBackup) => AskedBackup | undefined,
): World | undefined {
  const { backups = [] } = world;
  if (!backups.some(is)) return undefined;
  return { ...world, backups: backups.flatMap((one) => (is(one) ? (change(one) ?? []) : one)) };
}

const isUnderWay = ({ state }: AskedBackup) => state === 'under-way';
const isTaking = (one: AskedBackup) => isUnderWay(one) && one.looksFor === undefined;
const isLooking = (one: AskedBackup) => isUnderWay(one) && one.looksFor !== undefined;
const isGood = ({ state, old }: AskedBackup) => state === 'good' && !old;

/** A quorum serves, of which a snapshot is taken; it is restored and compared. */
export function taken(world: World): World | undefined {
  const formation = world.backups?.some(isTaking) ? serving(world) : undefined;
  if (!formation) return undefined;
  const versions = world.places.flatMap(({ process }) => (process?.formation === formation.id ? process.version : []));
  const [version = ''] = versions.toSorted((a, b) => (isHigher(a, b) ? -1 : 1));
  const revision = revisionSince(world);
  const holds = { formation: formation.id, version, ...(revision > revisionOfSnapshots && { revision }) };
  return changed(world, isTaking, (one) => ({ ...one, state: 'good', age: 0, holds }));
}

/** A Job reads what another one stored. */
export function lookedFor(world: World): World | undefined {
  const isThere = ({ looksFor }: AskedBackup) =>
    world.backups?.some((one) => objectOf(one) === looksFor && one.state === 'good' && !one.lost);
  return changed(world, isLooking, (one) => ({ ...one, state: isThere(one) ? 'good' : 'failed', age: 0 }));
}

/** In the store; what is known of it stays. */
export function objectsGo(world: World): World | undefined {
  return changed(
    world,
    ({ state, lost, looksFor }) => state === 'good' && !lost && looksFor === undefined,
    (one) => ({ ...one, lost: true }),
  );
}

export const fails = (world: World) => changed(world, isUnderWay, (one) => ({ ...one, state: 'failed', age: 0 }));
export const growsOld = (world: World) => changed(world, isGood, (one) => ({ ...one, old: true }));
/** A person deletes all of them. */
export const goes = (world: World) =>
  changed(
    world,
    () => true,
    () => undefined,
  );

export function waitsLonger(world: World): World | undefined {
  const isYoung = (one: AskedBackup) => isUnderWay(one) && one.age < 2;
  return changed(world, isYoung, (one) => ({ ...one, age: one.age === 0 ? 1 : 2 }));
}

/** What was taken before this counts no more. */
export function outdatedBackups(world: World, isOf: (before: Occasion) => boolean): World {
  const isPresent = (one: AskedBackup) => isOf(one.before) && !one.former;
  return changed(world, isPresent, (one) => ({ ...one, former: true })) ?? world;
}
