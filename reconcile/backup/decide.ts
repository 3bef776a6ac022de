import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import { parseObjectTemplate } from '../../manifests/api/object-template.ts';
import { backupDefaults } from '../../manifests/api/spec-defaults.ts';
import { failures } from '../jobs/failure.ts';
import { cureOfStart, isRefused, startSeconds } from '../jobs/pod-start.ts';
import { withCure } from '../reasons/cure.ts';
import type { BackupRecord } from './agent/record.ts';
import { type BackupDecision, failed, retryMessage } from './decision.ts';
import { take, verify, verifyAgain } from './orders.ts';
import { type BackupSituation, isFinished, isOverdue, type JobView, type Trouble } from './situation.ts';

export function decideBackup(situation: BackupSituation): BackupDecision {
  const { backup, attempt, job, at } = situation;
  if (isFinished(backup)) return { kind: 'rest' };
  const onMember = refuseMemberVolume(situation);
  if (onMember) return onMember;
  if (job === undefined) {
    if (attempt.begun) return failed(situation, 'JobGone', 'the Job was deleted before its result was read', 'retry');
    const left = secondsUntil(attempt.notBefore, at);
    const { reason = '', message = '' } = backup.status?.lastFailure ?? {};
    if (left > 0)
      return {
        kind: 'wait',
        reason: 'Retrying',
        message: retryMessage(attempt.number, reason, message),
        afterSeconds: left,
      };
    if (situation.notOffered !== undefined)
      return { kind: 'wait', reason: 'NotOffered', message: situation.notOffered, stalled: true };
    return attempt.stage === 'Take' ? take(situation) : verifyAgain(situation);
  }
  if (!job.ours && job.leaving)
    return {
      kind: 'wait',
      reason: 'OldJobLeaving',
      message: `Job ${job.name} of an earlier EtcdBackup of this name is being deleted`,
      stalled: isOverdue({ ...situation, job: undefined }),
    };
  if (!job.ours)
    return {
      kind: 'wait',
      reason: 'JobNameTaken',
      stalled: true,
      message: `Job ${job.name} belongs to something else: delete it, or create an EtcdBackup of another name`,
    };
  return byJob(situation, job);
}

/** No pod but the member's mounts it. One that waits for the volume is given up: it could be given a new member's. */
function refuseMemberVolume({ memberVolume, job }: BackupSituation): BackupDecision | undefined {
  if (memberVolume === undefined) return undefined;
  const isProven = job?.state.kind === 'said' && job.state.said.kind === 'proof';
  if (job?.ours && isProven) return undefined;
  return {
    kind: 'fail',
    reason: 'MemberVolume',
    message: `to.object: ${memberVolume}, and nothing else is put there`,
    cure: 'create another EtcdBackup that names another PersistentVolumeClaim',
    ...(job?.ours && { job }),
  };
}

function byJob(situation: BackupSituation, job: JobView): BackupDecision {
  const { backup, attempt } = situation;
  const { state } = job;
  if (state.kind === 'under-way') {
    return underWay(situation, job, state.trouble);
  }
  if (state.kind === 'broke') return failed(situation, state.reason, state.words, 'retry', job);
  const { said } = state;
  switch (said.kind) {
    case 'failure':
      return failed(situation, said.reason, said.message, courseOf(said.reason, backup));
    case 'record': {
      const { record } = said;
      if (attempt.stage !== 'Take' || !isOf(backup, record) || record.object !== job.object)
        return failed(situation, 'AgentBroke', 'the agent tells of another backup', 'retry');
      return (backup.spec.verify ?? backupDefaults.verify) === 'Trailer'
        ? { kind: 'done', ...stored(backup, record), facts: { record } }
        : verify(situation, record.object, record, 1, { record });
    }
    case 'proof':
      if (attempt.stage !== 'Verify')
        return failed(situation, 'AgentBroke', 'the agent tells of another operation', 'retry');
      return {
        kind: 'done',
        reason: 'Verified',
        message: `${backup.status?.object} was restored and compared, up to revision ${backup.status?.revision}`,
        facts: { proof: said.proof },
      };
  }
}

/** Its own, or the very one that it looks for. */
function isOf({ metadata, spec: { existing } }: EtcdBackup, { id, sha256 }: BackupRecord): boolean {
  return existing ? sha256 === existing.sha256 : id === metadata.uid;
}

function stored({ spec: { existing } }: EtcdBackup, { object, revision }: BackupRecord) {
  if (existing)
    return { reason: 'Found', message: `${object} is as it was stored, up to revision ${revision}` } as const;
  return { reason: 'Taken', message: `${object} is stored, up to revision ${revision}` } as const;
}

/** A pod that does not start is named at once, and asks for a person when it has waited for long. */
function underWay(
  { attempt, at, backup }: BackupSituation,
  { name }: JobView,
  trouble: Trouble | undefined,
): BackupDecision {
  const taking = backup.spec.existing ? 'reads what is stored' : 'takes the snapshot';
  const what = `Job ${name} ${attempt.stage === 'Take' ? taking : 'restores it and compares'}`;
  const reason = attempt.stage === 'Take' ? takingReason(backup) : 'Verifying';
  if (trouble === undefined) return { kind: 'wait', reason, message: what };
  const message = `${what}; its pod waits: ${trouble.words}`;
  // etcd that restarts on what was restored is told by its own end.
  if (trouble.code === 'CrashLoopBackOff') return { kind: 'wait', reason, message };
  const waited = (at.getTime() - Date.parse(trouble.since)) / 1000;
  if (!isRefused(trouble.code) && !(waited >= startSeconds))
    return { kind: 'wait', reason, message, afterSeconds: startSeconds };
  return {
    kind: 'wait',
    reason: 'PodNotStarting',
    message: withCure(message, cureOfStart(trouble.code)),
    stalled: true,
  };
}

export function takingReason({ spec: { existing } }: EtcdBackup): 'Taking' | 'Looking' {
  return existing ? 'Looking' : 'Taking';
}

/** Two backups of one second have one name. A later attempt has another, where the template says so. */
function courseOf(reason: keyof typeof failures, { spec }: EtcdBackup): (typeof failures)[keyof typeof failures] {
  const template = parseObjectTemplate(spec.to.object);
  const differs = !('problem' in template) && template.variables.has('timestamp');
  return reason === 'Exists' && differs ? 'retry' : failures[reason];
}

function secondsUntil(time: Date | undefined, at: Date): number {
  return time === undefined ? 0 : Math.max(0, Math.ceil((time.getTime() - at.getTime()) / 1000));
}
