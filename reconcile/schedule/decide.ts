import { parseDuration } from '../../manifests/api/duration.ts';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import { parseObjectTemplate } from '../../manifests/api/object-template.ts';
import { scheduleDefaults } from '../../manifests/api/spec-defaults.ts';
import { conditionOf } from '../objects/conditions.ts';
import { type DueTimes, dueTimes } from '../time/due.ts';
import { timestamp } from '../time/timestamp.ts';
import {
  byDueTime,
  dueAt,
  isAhead,
  isBelievable,
  isGood,
  isLeaving,
  isOver,
  type ScheduleObservation,
  tooOldSince,
} from './situation.ts';

/** What one step does for a schedule. Each is harmless when it is done twice. */
export type ScheduleAction =
  /** Replace: what is under way is given up. */
  | { readonly kind: 'give-up'; readonly backups: readonly EtcdBackup[] }
  /** Named after the time, so that a time has one backup, however many invocations see that it is due. */
  | { readonly kind: 'start'; readonly at: Date }
  /** `spare`: what is under way, and may be read at that moment. */
  | { readonly kind: 'prune'; readonly after: EtcdBackup; readonly spare: readonly EtcdBackup[] }
  /** Finished EtcdBackups beyond the history. Nothing in the store goes. */
  | { readonly kind: 'forget'; readonly backups: readonly EtcdBackup[] };

export interface ScheduleDecision {
  readonly actions: readonly ScheduleAction[];
  /** The spec can't be understood: nothing is done. */
  readonly problem?: string;
  readonly nextAt?: Date;
  /** Is due and has not begun: why. */
  readonly held?: { readonly at: Date; readonly because: 'late' } | { readonly at: Date; readonly because: 'busy' };
}

/** Deletions of one step: the next goes on. */
const mostForgotten = 20;

/** Pure. */
export function decideSchedule(observation: ScheduleObservation): ScheduleDecision {
  const { schedule, now } = observation;
  const { spec } = schedule;
  const name = parseObjectTemplate(spec.template.to.object);
  if ('problem' in name) return { actions: [], problem: `template.to.object: ${name.problem}` };
  const due = dueTimes(spec.schedule, spec.timeZone ?? scheduleDefaults.timeZone);
  if ('problem' in due) return { actions: care(observation), problem: due.problem };
  const next = spec.suspend ? undefined : due.next(now);
  const begin = spec.suspend ? { actions: [] } : beginning(observation, due);
  return { ...begin, actions: [...begin.actions, ...care(observation)], ...(next && { nextAt: next }) };
}

function beginning(observation: ScheduleObservation, due: DueTimes): ScheduleDecision {
  const { schedule, backups, now } = observation;
  const { startingDeadline, concurrencyPolicy = scheduleDefaults.concurrencyPolicy } = schedule.spec;
  const missed = due.missed(dealtWithUntil(observation), now);
  if (missed === undefined) return { actions: [] };
  const { at } = missed;
  if (startingDeadline !== undefined && now.getTime() - at.getTime() > parseDuration(startingDeadline))
    return { actions: [], held: { at, because: 'late' } };
  const busy = backups.filter((backup) => !isOver(backup));
  if (busy.length === 0 || concurrencyPolicy === 'Allow') return { actions: [{ kind: 'start', at }] };
  if (concurrencyPolicy === 'Forbid') return { actions: [], held: { at, because: 'busy' } };
  const active = busy.filter((backup) => !isLeaving(backup));
  return {
    actions: [...(active.length > 0 ? [{ kind: 'give-up', backups: active } as const] : []), { kind: 'start', at }],
  };
}

/**
 * The newest due time that has had its backup: by the status, by the backups if that was lost, and no earlier than the
 * schedule itself. A time in the far future, left by a wrong clock, is ignored: it would stop all backups until then.
 */
function dealtWithUntil({ schedule, backups, now }: ScheduleObservation): Date {
  const { metadata, status } = schedule;
  const told = [metadata.creationTimestamp ?? now, ...(status?.lastAt === undefined ? [] : [status.lastAt])];
  const known = [...told.map((time) => new Date(time)), ...backups.flatMap((backup) => dueAt(backup) ?? [])];
  const believed = known.filter((time) => isBelievable(time, now));
  return believed.length === 0 ? now : new Date(Math.max(...believed.map((time) => time.getTime())));
}

/** Looks after existing backups, also while the schedule is suspended. */
function care(observation: ScheduleObservation): readonly ScheduleAction[] {
  const { schedule, backups, now } = observation;
  const { good = scheduleDefaults.history.good, failed = scheduleDefaults.history.failed } =
    schedule.spec.history ?? {};
  const all = backups.filter((backup) => isOver(backup) && !isLeaving(backup));
  const over = all.filter((backup) => !isAhead(backup, now)).toSorted(byDueTime);
  const old = [
    ...all.filter((backup) => isAhead(backup, now)),
    ...over.filter(isGood).slice(good),
    ...over.filter((one) => !isGood(one)).slice(failed),
  ];
  const after = toPruneAfter(observation);
  return [
    ...(after === undefined ? [] : [{ kind: 'prune', after, spare: backups.filter((one) => !isOver(one)) } as const]),
    ...(old.length === 0 ? [] : [{ kind: 'forget', backups: old.slice(0, mostForgotten) } as const]),
  ];
}

/** The newest good backup, if retention has not run since it ended; one run at a time. */
function toPruneAfter({ schedule, backups, pruning, now }: ScheduleObservation): EtcdBackup | undefined {
  if (schedule.spec.retention === undefined || pruning?.kind === 'running') return undefined;
  const [newest] = backups.filter((one) => isGood(one) && !isLeaving(one)).toSorted(byDueTime);
  if (newest === undefined) return undefined;
  const last = schedule.status?.retention;
  if (last === undefined) return newest;
  if (last.after === newest.metadata.name) return pruning?.kind === 'gone' ? newest : undefined;
  const since = new Date(last.at);
  const isNewer = new Date(newest.status?.finishedAt ?? 0) > since;
  return isNewer || !isBelievable(since, now) ? newest : undefined;
}

/**
 * Whether a step of a schedule would find nothing new, by its status and the clock alone: then its finished backups are
 * not read. Pure.
 * @param open how many of its backups are not settled
 */
export function isAtRest(schedule: EtcdBackupSchedule, open: number, now: Date): boolean {
  const { metadata, status } = schedule;
  if (status === undefined || status.observedGeneration !== metadata.generation) return false;
  const { reason } = conditionOf(status, 'Ready') ?? {};
  // Of all else a person may have changed what it says: a failed backup is deleted, a refused one is let in.
  if (reason !== 'Scheduled' && reason !== 'Suspended') return false;
  if (open > 0 || (status.active ?? []).length > 0) return false;
  const isOld = tooOldSince(schedule, status.lastGood, now) !== undefined;
  return isRetained(schedule) && !isOld && isNextAhead(schedule, now);
}

/** The time that the status names is still to come: a clock that went back names another one. */
function isNextAhead({ spec, status }: EtcdBackupSchedule, now: Date): boolean {
  if (spec.suspend) return status?.nextAt === undefined;
  const due = dueTimes(spec.schedule, spec.timeZone ?? scheduleDefaults.timeZone);
  if ('problem' in due) return false;
  const next = due.next(now);
  return (next && timestamp(next)) === status?.nextAt;
}

/** No retention runs, and none is owed. */
function isRetained({ spec, status }: EtcdBackupSchedule): boolean {
  const { retention, lastGood } = status ?? {};
  if (retention === undefined) return spec.retention === undefined || lastGood === undefined;
  return retention.finishedAt !== undefined;
}
