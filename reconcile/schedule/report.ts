import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdBackupScheduleStatus } from '../../manifests/api/etcd-backup-schedule.ts';
import { dueBackupName } from '../../manifests/render/names.ts';
import { conditionOf, conditionsFrom, type Said } from '../objects/conditions.ts';
import { withRunbook } from '../reasons/runbook.ts';
import { timestamp } from '../time/timestamp.ts';
import type { ScheduleDeed } from './act.ts';
import type { ScheduleDecision } from './decide.ts';
import { needsPerson, type ScheduleReason } from './reasons.ts';
import {
  byDueTime,
  dueAt,
  isBelievable,
  isGood,
  isLeaving,
  isOver,
  isStuck,
  type ScheduleObservation,
  tooOldSince,
} from './situation.ts';

/** The status after a step. Pure. At rest it is what it was. */
export function scheduleStatus(
  observation: ScheduleObservation,
  decision: ScheduleDecision,
  deeds: readonly ScheduleDeed[],
): EtcdBackupScheduleStatus {
  const { schedule, now } = observation;
  const { generation = 0, name } = schedule.metadata;
  const { lastAt } = schedule.status ?? {};
  const begun = deeds.flatMap(({ action, failure }) => (action.kind === 'start' && !failure ? [action.at] : [])).at(-1);
  const last = begun ?? newestDue(observation, lastAt);
  const lastName = begun === undefined ? schedule.status?.lastName : dueBackupName(name, begun);
  const lastGood = newestGood(observation);
  const retention = retentionAfter(observation, deeds);
  const active = activeAfter(observation, deeds);
  const facts = { observation, decision, deeds, lastGood, retention, active };
  return {
    observedGeneration: generation,
    ...(decision.nextAt && { nextAt: timestamp(decision.nextAt) }),
    ...(last && { lastAt: timestamp(last) }),
    ...(lastName !== undefined && { lastName }),
    ...(active.length > 0 && { active }),
    ...(lastGood && { lastGood }),
    ...(retention && { retention }),
    conditions: conditionsFrom(statements(saying(facts)), schedule.status?.conditions, { generation, at: now }),
  };
}

/** Also where the status was lost. */
function newestDue({ backups, now }: ScheduleObservation, told: string | undefined): Date | undefined {
  const times = [...backups.flatMap((one) => dueAt(one) ?? []), ...(told === undefined ? [] : [new Date(told)])];
  const believed = times.filter((time) => isBelievable(time, now));
  return believed.toSorted((a, b) => b.getTime() - a.getTime())[0];
}

function activeAfter({ backups }: ScheduleObservation, deeds: readonly ScheduleDeed[]): readonly string[] {
  const given = new Set(
    deeds.flatMap(({ action, failure }) => (action.kind === 'give-up' && !failure ? action.backups : [])),
  );
  const before = backups.filter((one) => !isOver(one) && !isLeaving(one) && !given.has(one));
  const begun = deeds.flatMap(({ action, created }) => (action.kind === 'start' && created ? [created] : []));
  return [...before.map(({ metadata }) => metadata.name), ...begun].toSorted().slice(0, 100);
}

type Good = NonNullable<EtcdBackupScheduleStatus['lastGood']>;

/** What the status knows is kept when its EtcdBackup is gone: the object is there all the same. */
function newestGood({ schedule, backups, now }: ScheduleObservation): Good | undefined {
  const told = schedule.status?.lastGood;
  const candidates = [...backups.filter(isGood).map(goodOf), ...(told === undefined ? [] : [told])];
  const believed = candidates.filter(({ takenAt }) => isBelievable(new Date(takenAt), now));
  return believed.toSorted((a, b) => Date.parse(b.takenAt) - Date.parse(a.takenAt))[0];
}

function goodOf({ metadata, status }: EtcdBackup): Good {
  return {
    name: metadata.name,
    object: status?.object ?? '',
    takenAt: status?.takenAt ?? '',
    ...(status?.verified && { verifiedAt: status.verified.at }),
    ...(status?.clusterID !== undefined && { clusterID: status.clusterID }),
  };
}

type Retention = NonNullable<EtcdBackupScheduleStatus['retention']>;

const again = 'retention runs again after the next backup';

function retentionAfter(
  { schedule, pruning, now }: ScheduleObservation,
  deeds: readonly ScheduleDeed[],
): Retention | undefined {
  const begun = deeds.find(({ action, failure }) => action.kind === 'prune' && !failure);
  if (begun?.action.kind === 'prune') {
    const dryRun = schedule.spec.retention?.mode === 'DryRun';
    return { after: begun.action.after.metadata.name, at: timestamp(now), ...(dryRun && { dryRun }) };
  }
  const last = schedule.status?.retention;
  if (last === undefined || pruning === undefined || pruning.kind === 'running') return last;
  const lost =
    pruning.kind === 'name-taken'
      ? { reason: 'JobNameTaken', message: `Job ${pruning.job} belongs to something else: delete it; ${again}` }
      : { reason: 'ResultLost', message: `its Job is gone: ${again}` };
  const { ok: _, ...end } = pruning.kind === 'ended' ? pruning.end : { ok: false, failure: lost };
  return { ...last, ...end, finishedAt: timestamp(now) };
}

interface Facts {
  readonly observation: ScheduleObservation;
  readonly decision: ScheduleDecision;
  readonly deeds: readonly ScheduleDeed[];
  readonly lastGood: Good | undefined;
  readonly retention: Retention | undefined;
  readonly active: readonly string[];
}

interface Saying {
  readonly reason: ScheduleReason;
  readonly message: string;
}

/** The most urgent first. No message grows older by itself: a schedule at rest writes nothing. */
function saying(facts: Facts): Saying {
  const { observation, decision, deeds, retention } = facts;
  const { spec } = observation.schedule;
  if (decision.problem !== undefined) return { reason: 'InvalidSchedule', message: decision.problem };
  const tooOld = age(facts);
  if (tooOld !== undefined) return { reason: 'BackupTooOld', message: tooOld };
  const refused = deeds.find(({ failure }) => failure !== undefined);
  if (refused?.failure) return { reason: 'StartRefused', message: refused.failure.message };
  const [stuck] = observation.backups.filter(isStuck).toSorted(byDueTime);
  if (stuck !== undefined) return { reason: 'BackupStuck', message: failureOf(stuck) };
  const [newest] = observation.backups.filter((one) => isOver(one)).toSorted(byDueTime);
  if (newest !== undefined && !isGood(newest)) return { reason: 'LastBackupFailed', message: failureOf(newest) };
  // Where none is asked for any more, no later run would take it back.
  if (spec.retention && retention?.failure)
    return { reason: 'RetentionFailed', message: `${retention.failure.reason}: ${retention.failure.message}` };
  if (spec.suspend) return { reason: 'Suspended', message: 'no backup begins while spec.suspend is true' };
  return { reason: 'Scheduled', message: course(facts) };
}

function age({ observation, lastGood }: Facts): string | undefined {
  const { schedule, now } = observation;
  const { maxAge } = schedule.spec;
  const since = tooOldSince(schedule, lastGood, now);
  if (since === undefined) return undefined;
  return lastGood === undefined
    ? `there is no good backup, and spec.maxAge (${maxAge}) has passed since the schedule was made at ${since}`
    : `the newest good backup, ${lastGood.name}${life(lastGood)}, was taken at ${since}: that is longer ago than spec.maxAge (${maxAge})`;
}

/** A cluster that was rolled back, or made anew, has another ID: that one may be of what was before. */
function life({ clusterID }: Good): string {
  return clusterID === undefined ? '' : ` (of etcd cluster ${clusterID})`;
}

function failureOf({ metadata, status }: EtcdBackup): string {
  const ready = conditionOf(status, 'Ready');
  return `${metadata.name}: ${ready?.message ?? 'it gave no cause'}`;
}

function course({ decision, active, retention }: Facts): string {
  const { held, nextAt } = decision;
  const locked = retention?.locked ?? 0;
  const next = nextAt === undefined ? 'no backup is due any more' : `the next backup is due at ${timestamp(nextAt)}`;
  const now = active.length > 0 ? `${active.join(', ')} under way; ` : '';
  const rest = locked === 0 ? next : `${next}; ${locked} that are to go are locked in the store`;
  if (held === undefined) return `${now}${rest}`;
  const at = timestamp(held.at);
  const why = held.because === 'late' ? 'did not begin within spec.startingDeadline' : 'begins after what is under way';
  return `${now}the one due at ${at} ${why}; ${rest}`;
}

function statements({ reason, message }: Saying): readonly Said[] {
  const stalled = needsPerson(reason);
  return [
    { type: 'Ready', status: stalled ? 'False' : 'True', reason, message },
    ...(stalled
      ? [{ type: 'Stalled', status: 'True', reason, message: withRunbook(message, 'EtcdBackupSchedule') } as const]
      : []),
  ];
}
