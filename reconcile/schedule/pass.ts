import { isDeepStrictEqual } from 'node:util';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import { labels } from '../../manifests/render/names.ts';
import type { ListBackups } from '../backup/list.ts';
import { KubeError, resources } from '../interfaces/kube.ts';
import { inTurns } from '../stepping/in-turns.ts';
import type { StepResult } from '../stepping/result.ts';
import { earliest, laterLook } from '../time/later-look.ts';
import { actOnSchedule, type ScheduleActContext } from './act.ts';
import { decideSchedule, isAtRest, type ScheduleDecision } from './decide.ts';
import { isOf, observeSchedule } from './observe.ts';
import { scheduleStatus } from './report.ts';
import type { ScheduleObservation } from './situation.ts';

export interface SchedulePassContext extends ScheduleActContext {
  /** The backups that are not settled, listed after the schedules: what one says of a backup is never newer than it. */
  readonly listBackups: ListBackups;
  readonly log: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  /** Says what would be done, and writes nothing. */
  readonly dryRun: boolean;
}

/** `nextAt`: when the next backup is due, or a retention that is under way is worth another look. */
export interface ScheduleResult extends StepResult {
  readonly namespace: string;
  /** As it was listed: what is told of it when the pass is over. */
  readonly schedule: EtcdBackupSchedule;
}

const parallel = 8;

/**
 * One step for each schedule: a LIST of backups, and one more for each schedule that is not at rest.
 * @throws {KubeError} when the backups can't be listed
 */
export async function stepSchedules(
  schedules: readonly EtcdBackupSchedule[],
  context: SchedulePassContext,
): Promise<readonly ScheduleResult[]> {
  const { items } = await context.listBackups();
  return inTurns(schedules, { atOnce: parallel, kube: context.kube }, (schedule) =>
    stepSchedule(schedule, items, context),
  );
}

async function stepSchedule(
  schedule: EtcdBackupSchedule,
  unsettled: readonly EtcdBackup[],
  context: SchedulePassContext,
): Promise<ScheduleResult> {
  const { kube, signal, log, dryRun } = context;
  const key = `${schedule.metadata.namespace}/${schedule.metadata.name}`;
  const result = (outcome: StepResult['outcome'], message: string, nextAt?: Date): ScheduleResult => {
    const { namespace = '', name } = schedule.metadata;
    return {
      namespace,
      name,
      reason: reasonOf[outcome],
      message,
      outcome,
      workRemains: false,
      schedule,
      ...(nextAt && { nextAt }),
    };
  };
  try {
    const open = unsettled.filter((one) => isOf(schedule, one)).length;
    if (schedule.metadata.deletionTimestamp !== undefined) return result('none', 'it is being deleted');
    if (isAtRest(schedule, open, kube.now() ?? new Date())) return result('none', 'it is at rest', nextOf(schedule));
    const observation = await observeSchedule(schedule, await readHistory(schedule, context), context);
    const decision = decideSchedule(observation);
    for (const { kind } of decision.actions) log({ schedule: key, action: kind, dryRun }, 'a schedule acts');
    if (dryRun) return result('none', 'a dry run');
    const deeds = await actOnSchedule(schedule, decision.actions, context);
    for (const { action, failure } of deeds)
      if (failure) log({ schedule: key, action: action.kind, problem: failure.message }, 'a schedule could not act');
    const status = scheduleStatus(observation, decision, deeds);
    if (!isDeepStrictEqual(status, schedule.status))
      await kube.updateStatus(resources.schedules, { ...schedule, status }, { signal });
    const done = deeds.map(({ action }) => action.kind).join(', ');
    return result(deeds.length > 0 ? 'acted' : 'none', done || 'nothing is due', nextLookAt(observation, decision));
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const isLost = error.class === 'precondition';
    const message = isLost ? 'another invocation steps this schedule' : 'a schedule failed';
    log({ schedule: key, problem: error.message }, message);
    // What failed may have acted.
    return result(isLost ? 'lost' : 'failed', error.message);
  }
}

const reasonOf = { none: 'Rests', acted: 'Acted', failed: 'Failed', lost: 'Lost' } as const;

function nextOf({ status }: EtcdBackupSchedule): Date | undefined {
  return status?.nextAt === undefined ? undefined : new Date(status.nextAt);
}

/** All that it has made, as far as they are there. */
async function readHistory(
  { metadata: { namespace, name } }: EtcdBackupSchedule,
  { kube, signal }: SchedulePassContext,
): Promise<readonly EtcdBackup[]> {
  const labelSelector = `${labels.schedule}=${name}`;
  return (await kube.list<EtcdBackup>(resources.backups, { namespace, labelSelector, signal })).items;
}

/** A retention that runs ends unseen: looks at it are the rarer the longer it takes. */
function nextLookAt({ schedule, pruning, now }: ScheduleObservation, { nextAt }: ScheduleDecision): Date | undefined {
  if (pruning?.kind !== 'running') return nextAt;
  return earliest(nextAt, laterLook(schedule.status?.retention?.at, now));
}
