import { parseDuration } from '../../manifests/api/duration.ts';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import { annotations } from '../../manifests/render/names.ts';
import { isTrue } from '../objects/conditions.ts';
import type { PruneEnd } from './prune-result.ts';

/** All that a schedule's step may look at. Plain data. */
export interface ScheduleObservation {
  readonly schedule: EtcdBackupSchedule;
  /** Those that it controls. */
  readonly backups: readonly EtcdBackup[];
  /** Of the retention that its status says is under way; `undefined`: none is. */
  readonly pruning: PruneView | undefined;
  /** By the API server's clock. */
  readonly now: Date;
}

export type PruneView =
  | { readonly kind: 'running' }
  | { readonly kind: 'ended'; readonly end: PruneEnd }
  /** Another's Job has its name. */
  | { readonly kind: 'name-taken'; readonly job: string }
  /** Its Job is not there: deleted, or never made because its maker died. */
  | { readonly kind: 'gone' };

/** A time that a wrong clock may have written: what lies further ahead is not believed. Milliseconds. */
const believedAheadMs = 24 * 3600_000;

export function isBelievable(time: Date, now: Date): boolean {
  return time.getTime() <= now.getTime() + believedAheadMs;
}

/** When the backup was due; `undefined` of one that names no time. */
export function dueAt({ metadata }: EtcdBackup): Date | undefined {
  const at = new Date(metadata.annotations?.[annotations.dueAt] ?? '');
  return Number.isNaN(at.getTime()) ? undefined : at;
}

/** A clock that was far ahead made it: the history has no place for it, or it would be the newest for years. */
export function isAhead(backup: EtcdBackup, now: Date): boolean {
  const due = dueAt(backup);
  return due !== undefined && !isBelievable(due, now);
}

/** Nothing more is done for it, however it ended. */
export function isOver({ status }: EtcdBackup): boolean {
  return status?.finishedAt !== undefined;
}

export function isLeaving({ metadata }: EtcdBackup): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** It did not come to be, and waits for a person. */
export function isStuck(backup: EtcdBackup): boolean {
  return !isOver(backup) && !isLeaving(backup) && isTrue(backup.status, 'Stalled');
}

/** It is there, and proven as its spec asks. */
export function isGood(backup: EtcdBackup): boolean {
  return isOver(backup) && isTrue(backup.status, 'Ready') && backup.status?.takenAt !== undefined;
}

export function byDueTime(a: EtcdBackup, b: EtcdBackup): number {
  return timeOf(b) - timeOf(a) || (a.metadata.name < b.metadata.name ? 1 : -1);
}

/** The newest first. */
function timeOf(backup: EtcdBackup): number {
  return dueAt(backup)?.getTime() ?? Date.parse(backup.metadata.creationTimestamp ?? '');
}

/**
 * Since when there is no newer good backup, where that is longer than the spec allows; `undefined`: it is not. Of any
 * life of the cluster: later writes of a rollback or a new birth are younger.
 */
export function tooOldSince(
  { metadata, spec }: EtcdBackupSchedule,
  lastGood: { readonly takenAt: string } | undefined,
  now: Date,
): string | undefined {
  const since = lastGood?.takenAt ?? metadata.creationTimestamp;
  if (spec.maxAge === undefined || since === undefined) return undefined;
  return now.getTime() - Date.parse(since) > parseDuration(spec.maxAge) ? since : undefined;
}
