import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import { scheduleDefaults } from '../../manifests/api/spec-defaults.ts';
import { conditionOf } from '../objects/conditions.ts';
import { dueTimes } from '../time/due.ts';
import { timestamp } from '../time/timestamp.ts';
import { tooOldSince } from './situation.ts';

/**
 * Whether a step of a schedule would find nothing new, by its status and the clock alone: then its finished backups are
 * not read. Pure. @param open how many of its backups are not settled
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
