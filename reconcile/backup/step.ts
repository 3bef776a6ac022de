import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Egress } from '../../manifests/egress/egress.ts';
import type { Job } from '../../manifests/kube-types.ts';
import { takeJob, verifyJob } from '../../manifests/render/backup-jobs.ts';
import { annotations } from '../../manifests/render/names.ts';
import { isControlledBy } from '../../manifests/render/owner-reference.ts';
import { type Kube, KubeError, resources } from '../interfaces/kube.ts';
import { conditionOf, isTrue } from '../objects/conditions.ts';
import { writeEvent } from '../objects/event.ts';
import type { StepResult } from '../stepping/result.ts';
import { decideBackup } from './decide.ts';
import type { BackupDecision } from './decision.ts';
import { deleteOwn } from './delete-own.ts';
import { forgetEarlier } from './forget.ts';
import { observeBackup } from './observe.ts';
import { type BackupStatement, backupStatusFor, type Outcome, statementOf } from './report.ts';
import { freeScratch, settle } from './settle.ts';
import { type BackupSituation, hasScratchVolumes, isFinished, isSettled } from './situation.ts';

export interface BackupContext {
  readonly kube: Kube;
  readonly clusters: readonly EtcdCluster[];
  /** Our own, for the Jobs. */
  readonly image: () => Promise<string>;
  readonly egress?: Egress | undefined;
  readonly signal: AbortSignal;
}

/** What one pass did about one backup. */
export interface BackupResult extends StepResult {
  readonly namespace: string;
  /** As this step left it. */
  readonly backup: EtcdBackup;
}

/** One step: look, decide, act, tell. @throws {KubeError} when it could not be looked at or told. */
export async function stepBackup(backup: EtcdBackup, context: BackupContext): Promise<BackupResult> {
  const { namespace = '', name } = backup.metadata;
  const base = { namespace, name, backup };
  if (isFinished(backup)) return rest(backup, base, context);
  const situation = await observeBackup(backup, context);
  const decision = decideBackup(situation);
  if (decision.kind === 'rest') return rest(backup, base, context);
  const outcome = await actOn(situation, decision, context);
  const { reason, message, course } = statementOf(situation, decision, outcome);
  const so = { ...base, reason, message };
  const told = await tell(situation, decision, outcome, { course, reason, message }, context);
  if (told === 'lost') return { ...so, outcome: told, workRemains: true, afterSeconds: 1 };
  const ended = decision.kind === 'done' || decision.kind === 'fail';
  if (ended) await forgetEarlier(context.kube, told, context.signal);
  const left = await tidy(told, situation, decision, context);
  const after = decision.kind === 'wait' ? decision.afterSeconds : decision.kind === 'retry' ? 20 : undefined;
  return {
    ...so,
    backup: left,
    outcome: outcome.kind === 'acted' || ended || decision.kind === 'retry' ? 'acted' : 'none',
    workRemains: !isSettled(left),
    ...(after !== undefined && { afterSeconds: after }),
  };
}

/** Also what an invocation left to do that was ended when it had just told the result. */
async function rest(
  backup: EtcdBackup,
  base: Pick<BackupResult, 'namespace' | 'name' | 'backup'>,
  { kube, signal }: BackupContext,
): Promise<BackupResult> {
  const so = { ...base, reason: 'Rests', message: 'nothing is left to do', outcome: 'none' } as const;
  // Without the mark: as an earlier release has left it.
  if (backup.status?.settled || backup.metadata.deletionTimestamp !== undefined) return { ...so, workRemains: false };
  const left = await settle(kube, backup, signal);
  return { ...so, backup: left, workRemains: !isSettled(left) };
}

/** Once it is told how an attempt to verify ended, nothing needs the volume any more that it was restored to. */
async function tidy(
  told: EtcdBackup,
  { attempt: { stage, number } }: BackupSituation,
  decision: BackupDecision,
  { kube, signal }: BackupContext,
): Promise<EtcdBackup> {
  if (!isSettled(told) && isFinished(told)) return settle(kube, told, signal);
  if (decision.kind === 'retry' && stage === 'Verify' && hasScratchVolumes(told))
    await freeScratch(kube, told, { from: number, to: number }, signal);
  return told;
}

async function actOn(
  { backup }: BackupSituation,
  decision: Exclude<BackupDecision, { readonly kind: 'rest' }>,
  { kube, image, egress, signal }: BackupContext,
): Promise<Outcome> {
  switch (decision.kind) {
    case 'take':
      return make(kube, backup, takeJob(backup, { ...decision.order, image: await image(), egress }), signal);
    case 'verify':
      // What earlier attempts have left, where the invocation that told of them was ended then.
      if (hasScratchVolumes(backup))
        await freeScratch(kube, backup, { from: 1, to: decision.order.attempt - 1 }, signal);
      return make(kube, backup, verifyJob(backup, { ...decision.order, image: await image(), egress }), signal);
    case 'retry':
    case 'fail': {
      const { job } = decision;
      if (job) await deleteOwn(kube, resources.jobs, { ...job, namespace: backup.metadata.namespace }, signal);
      return { kind: 'none' };
    }
    case 'wait':
    case 'done':
      return { kind: 'none' };
  }
}

/**
 * The Job's name is the lock: of two invocations that make it, one is refused, and tells of the Job that is there. So
 * does the step after one that was ended before it could tell.
 */
async function make(kube: Kube, backup: EtcdBackup, job: Job, signal: AbortSignal): Promise<Outcome> {
  const { name, namespace } = job.metadata;
  try {
    await kube.create(resources.jobs, job, { signal });
    return { kind: 'acted', object: objectOf(job) };
  } catch (error) {
    // Without an answer the status can't be written, either.
    if (!(error instanceof KubeError) || error.status === undefined) throw error;
    if (error.reason !== 'AlreadyExists')
      return {
        kind: error.class === 'terminal' ? 'refused' : 'delayed',
        message: `Job ${name} is refused: ${error.message}`,
      };
  }
  const found = await kube.get<Job>(resources.jobs, namespace, name, { signal });
  if (found && isControlledBy(found, backup.metadata.uid ?? '')) return { kind: 'acted', object: objectOf(found) };
  const cure = 'delete it, or create an EtcdBackup of another name';
  return { kind: 'refused', message: `Job ${name} belongs to something else: ${cure}` };
}

function objectOf({ metadata }: Job): string {
  return metadata.annotations?.[annotations.object]?.slice(0, 1100) ?? '';
}

async function tell(
  situation: BackupSituation,
  decision: Exclude<BackupDecision, { readonly kind: 'rest' }>,
  outcome: Outcome,
  statement: BackupStatement,
  { kube, signal }: BackupContext,
): Promise<EtcdBackup | 'lost'> {
  const { backup } = situation;
  const status = backupStatusFor(situation, decision, outcome);
  if (isDeepStrictEqual(status, backup.status)) return backup;
  try {
    const written = await kube.updateStatus<EtcdBackup>(resources.backups, { ...backup, status }, { signal });
    await record(kube, situation, statement, signal);
    return written;
  } catch (error) {
    // Deleted, or another invocation's turn: whose write comes first has looked at the same Job.
    if (error instanceof KubeError && (error.class === 'precondition' || error.reason === 'NotFound')) return 'lost';
    throw error;
  }
}

/** One event for each word that is new, and where a person is asked from now on. */
async function record(
  kube: Kube,
  { backup, at }: BackupSituation,
  { course, reason, message }: BackupStatement,
  signal: AbortSignal,
): Promise<void> {
  const before = conditionOf(backup.status, 'Ready');
  if (before?.reason === reason && isTrue(backup.status, 'Stalled') === (course === 'stalled')) return;
  const type = course === 'stalled' || reason === 'Retrying' ? 'Warning' : 'Normal';
  const id = `${at.getTime().toString(16)}${randomBytes(4).toString('hex')}`;
  const news = { type, action: 'Backup', reason, note: message } as const;
  await writeEvent(kube, backup, news, { id, at, signal, about: resources.backups });
}
