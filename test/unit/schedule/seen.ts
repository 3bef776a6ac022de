import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdBackupScheduleSpec, EtcdBackupScheduleStatus } from '../../../manifests/api/etcd-backup-schedule.ts';
import { dueBackup } from '../../../manifests/render/schedule-objects.ts';
import type { ScheduleObservation } from '../../../reconcile/schedule/situation.ts';
import { createLife } from './life.ts';

/** By the API server's clock. */
export const now = new Date('2026-03-01T01:05:00Z');
const deletionTimestamp = now.toISOString();

export type Way = 'good' | 'failed' | 'under way' | 'leaving' | 'good, leaving';

export interface Given {
  readonly spec?: Partial<EtcdBackupScheduleSpec>;
  readonly creationTimestamp?: string;
  /** By the time at which each was due. */
  readonly backups?: Readonly<Record<string, Way>>;
  readonly status?: Partial<EtcdBackupScheduleStatus>;
}

export function seen({ spec, creationTimestamp, backups = {}, status }: Given): ScheduleObservation {
  const schedule = createLife(spec).schedule();
  const metadata = { ...schedule.metadata, ...(creationTimestamp !== undefined && { creationTimestamp }) };
  const all = Object.entries(backups).map(([at, way]) => inWay(dueBackup(schedule, new Date(at)), way));
  return {
    schedule: { ...schedule, metadata, ...(status && { status: { observedGeneration: 1, ...status } }) },
    backups: all,
    pruning: undefined,
    now,
  };
}

export function inWay({ metadata, ...backup }: EtcdBackup, way: Way): EtcdBackup {
  const at = now.toISOString();
  const isGood = way.startsWith('good');
  const ready = { type: 'Ready', reason: 'Ended', message: '', lastTransitionTime: at } as const;
  return {
    ...backup,
    metadata: { ...metadata, ...(way.endsWith('leaving') && { deletionTimestamp }) },
    ...((isGood || way === 'failed') && {
      status: {
        observedGeneration: 1,
        finishedAt: at,
        ...(isGood && { takenAt: at }),
        conditions: [{ ...ready, status: isGood ? 'True' : 'False' }],
      },
    }),
  };
}
