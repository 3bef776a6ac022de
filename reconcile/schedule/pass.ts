import { isDeepStrictEqual } from 'node:util';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import { labels } from '../../manifests/render/names.ts';
import { isControlledBy } from '../../manifests/render/owner-reference.ts';
import type { BackupsListed, ListBackups } from '../backup/list.ts';
import { isReason, KubeError, resources } from '../interfaces/kube.ts';
import { inParallel } from '../stepping/in-parallel.ts';
import { earliest, laterLook } from '../time/later-look.ts';
import { actOnSchedule, type ScheduleActContext } from './act.ts';
import { isAtRest } from './at-rest.ts';
import { decideSchedule, type ScheduleDecision } from './decide.ts';
import { observeSchedule } from './observe.ts';
import { scheduleStatus } from './report.ts';
import type { ScheduleObservation } from './situation.ts';

export interface SchedulePassContext extends ScheduleActContext {
  readonly namespace?: string | undefined;
  /** The backups that are not settled. */
  readonly list: ListBackups;
  readonly log: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  /** Says what would be done, and writes nothing. */
  readonly dryRun: boolean;
}

export interface SchedulesStepped {
  /** The backups, where no schedule changed any of them; else they are to be listed again. */
  readonly listed?: BackupsListed;
  /** As they were listed: what is told of them when the pass is over. */
  readonly schedules?: readonly EtcdBackupSchedule[];
  /** When the next backup is due, or a retention that is under way is worth another look. */
  readonly nextAt?: Date;
}

/** Schedules at a time. */
const parallel = 8;

/**
 * One step for each schedule: one LIST, another one where there are any, and one more for each that is not at rest.
 * Never throws for what the API server says: clusters wait for no schedule.
 */
export async function stepSchedules(context: SchedulePassContext): Promise<SchedulesStepped> {
  const { kube, namespace, signal, log } = context;
  try {
    const { items } = await kube.list<EtcdBackupSchedule>(resources.schedules, { namespace, signal });
    if (items.length === 0) return {};
    // Listed after the schedules: what a schedule says of a backup is never newer than the backup.
    const listed = await context.list();
    const stepped = await inParallel(items, parallel, (schedule) => stepSchedule(schedule, listed.items, context));
    const nextAt = earliest(...stepped.map((one) => one.nextAt));
    const isListed = stepped.every(({ rested }) => rested);
    return { ...(isListed && { listed }), schedules: items, ...(nextAt && { nextAt }) };
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
  unsettled: readonly EtcdBackup[],
  context: SchedulePassContext,
): Promise<Stepped> {
  const { kube, signal, log, dryRun } = context;
  const name = `${schedule.metadata.namespace}/${schedule.metadata.name}`;
  try {
    const { uid = '', deletionTimestamp } = schedule.metadata;
    const open = unsettled.filter((one) => isControlledBy(one, uid)).length;
    if (deletionTimestamp !== undefined) return { rested: true };
    if (isAtRest(schedule, open, kube.now() ?? new Date())) return { rested: true, nextAt: nextOf(schedule) };
    const observation = await observeSchedule(schedule, await readHistory(schedule, context), context);
    const decision = decideSchedule(observation);
    for (const { kind } of decision.actions) log({ schedule: name, action: kind, dryRun }, 'a schedule acts');
    if (dryRun) return { rested: true };
    const deeds = await actOnSchedule(schedule, decision.actions, context);
    for (const { action, failure } of deeds)
      if (failure) log({ schedule: name, action: action.kind, problem: failure.message }, 'a schedule could not act');
    const status = scheduleStatus(observation, decision, deeds);
    if (!isDeepStrictEqual(status, schedule.status))
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
