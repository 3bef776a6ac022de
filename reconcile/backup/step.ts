import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import { type Kube, KubeError, resources } from '../interfaces/kube.ts';
import { conditionOf, isTrue } from '../objects/conditions.ts';
import { writeEvent } from '../objects/event.ts';
import type { StepResult } from '../stepping/result.ts';
import { actOnBackup, type BackupContext, tidy } from './act.ts';
import { decideBackup } from './decide.ts';
import type { BackupDecision } from './decision.ts';
import { observeBackup } from './observe.ts';
import { type BackupStatement, backupStatusFor, type Outcome, statementOf } from './report.ts';
import { forgetEarlier, settle } from './settle.ts';
import { type BackupSituation, isFinished, isSettled } from './situation.ts';

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
  const outcome = await actOnBackup(situation, decision, context);
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
