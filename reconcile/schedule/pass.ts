import { isDeepStrictEqual } from 'node:util';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import { inParallel } from '../in-parallel.ts';
import { isReason, KubeError, resources } from '../kube.ts';
import { earliest, laterLook } from '../later-look.ts';
import { actOnSchedule, type ScheduleActContext } from './act.ts';
import { decideSchedule, type ScheduleDecision } from './decide.ts';
import { observeSchedule } from './observe.ts';
import { scheduleStatus } from './report.ts';
import type { ScheduleObservation } from './situation.ts';

export interface SchedulePassContext extends ScheduleActContext {
  readonly namespace?: string | undefined;
  readonly log: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  /** Says what would be done, and writes nothing. */
  readonly dryRun: boolean;
}

/** All EtcdBackups, as one LIST has them. */
export interface BackupsListed {
  readonly items: readonly EtcdBackup[];
  readonly resourceVersion: string;
}

export interface SchedulesStepped {
  /** The backups, where no schedule changed any of them; else they are to be listed again. */
  readonly listed?: BackupsListed;
  /** When the next backup is due, or a retention that is under way is worth another look. */
  readonly nextAt?: Date;
}

/** Schedules at a time. */
const parallel = 8;

/**
 * One step for each schedule: one LIST, and another one where there are any. Never throws for what the API server says:
 * clusters wait for no schedule.
 */
export async function stepSchedules(context: SchedulePassContext): Promise<SchedulesStepped> {
  const { kube, namespace, signal, log } = context;
  try {
    const { items } = await kube.list<EtcdBackupSchedule>(resources.schedules, { namespace, signal });
    if (items.length === 0) return {};
    // Listed after the schedules: what a schedule says of a backup is never newer than the backup.
    const listed = await kube.list<EtcdBackup>(resources.backups, { namespace, signal });
    const stepped = await inParallel(items, parallel, (schedule) => stepSchedule(schedule, listed.items, context));
    const nextAt = earliest(...stepped.map((one) => one.nextAt));
    return { ...(stepped.every(({ rested }) => rested) && { listed }), ...(nextAt && { nextAt }) };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    // Before its CRDs are installed there are none.
    const isAbsent = isReason(error, 'NotFound');
    log(
      { problem: error.message },
      isAbsent ? 'schedules of backups are not installed' : 'schedules were not looked at',
    );
    return {};
  }
}

interface Stepped {
  /** What failed may have acted. */
  readonly rested: boolean;
  readonly nextAt?: Date | undefined;
}

async function stepSchedule(
  schedule: EtcdBackupSchedule,
  backups: readonly EtcdBackup[],
  context: SchedulePassContext,
): Promise<Stepped> {
  const { kube, signal, log, dryRun } = context;
  const name = `${schedule.metadata.namespace}/${schedule.metadata.name}`;
  try {
    const observation = await observeSchedule(schedule, backups, context);
    const decision = decideSchedule(observation);
    for (const { kind } of decision.actions) log({ schedule: name, action: kind, dryRun }, 'a schedule acts');
    if (dryRun) return { rested: true };
    const deeds = await actOnSchedule(schedule, decision.actions, context);
    for (const { action, failure } of deeds)
      if (failure) log({ schedule: name, action: action.kind, problem: failure.message }, 'a schedule could not act');
    const status = scheduleStatus(observation, decision, deeds);
    if (schedule.metadata.deletionTimestamp === undefined && !isDeepStrictEqual(status, schedule.status))
      await kube.updateStatus(resources.schedules, { ...schedule, status }, { signal });
    return { rested: deeds.length === 0, nextAt: nextLookAt(observation, decision) };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const isLost = error.class === 'precondition';
    log(
      { schedule: name, problem: error.message },
      isLost ? 'another invocation steps this schedule' : 'a schedule failed',
    );
    return { rested: false };
  }
}

/** A retention that runs ends unseen: looks at it are the rarer the longer it takes. */
function nextLookAt({ schedule, pruning, now }: ScheduleObservation, { nextAt }: ScheduleDecision): Date | undefined {
  if (pruning?.kind !== 'running') return nextAt;
  return earliest(nextAt, laterLook(schedule.status?.retention?.at, now));
}
