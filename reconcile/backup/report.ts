import type { EtcdBackupStatus } from '../../manifests/api/etcd-backup.ts';
import { backupJobName } from '../../manifests/render/names.ts';
import { conditionsFrom, type Said } from '../objects/conditions.ts';
import { withCure } from '../reasons/cure.ts';
import { withRunbook } from '../reasons/runbook.ts';
import { timestamp } from '../time/timestamp.ts';
import { takingReason } from './decide.ts';
import { type BackupDecision, type Facts, retryMessage } from './decision.ts';
import type { BackupReason } from './reasons.ts';
import { type BackupSituation, hasScratchVolumes, isOverdue } from './situation.ts';

/** What came of a decision. `refused`: by the API server, in words that ask for a person. */
export type Outcome =
  | { readonly kind: 'none' }
  | { readonly kind: 'acted'; readonly object: string }
  | { readonly kind: 'refused'; readonly message: string }
  /** It answers that this may pass by itself, as of a webhook that is away. */
  | { readonly kind: 'delayed'; readonly message: string };

/** The status that tells of this step. Pure, and equal for equal facts. */
export function backupStatusFor(
  situation: BackupSituation,
  decision: Exclude<BackupDecision, { readonly kind: 'rest' }>,
  outcome: Outcome,
): EtcdBackupStatus {
  const { backup, at } = situation;
  const { lastFailure: failedBefore, conditions, ...previous } = backup.status ?? { observedGeneration: -1 };
  const said = statementOf(situation, decision, outcome);
  const attempt = attemptAfter(situation, decision, outcome);
  const lastFailure = failureAfter(situation, decision, attempt !== undefined);
  return {
    ...previous,
    observedGeneration: backup.metadata.generation ?? 0,
    ...('facts' in decision && factsStatus(decision.facts, situation)),
    ...(attempt && { attempt }),
    ...(lastFailure && { lastFailure }),
    ...((decision.kind === 'done' || decision.kind === 'fail') && {
      finishedAt: timestamp(at),
      settled: !(situation.attempt.stage === 'Verify' && hasScratchVolumes(backup)),
    }),
    conditions: conditionsFrom(statementsOf(said), conditions, { generation: backup.metadata.generation ?? 0, at }),
  };
}

export interface BackupStatement {
  readonly course: 'ready' | 'on-its-way' | 'stalled';
  readonly reason: BackupReason;
  readonly message: string;
}

/** In one word and one sentence. */
export function statementOf(
  situation: BackupSituation,
  decision: Exclude<BackupDecision, { readonly kind: 'rest' }>,
  outcome: Outcome,
): BackupStatement {
  const { attempt } = situation;
  if (outcome.kind === 'delayed') {
    const course = isOverdue(situation) ? 'stalled' : 'on-its-way';
    return { course, reason: 'JobRefused', message: outcome.message };
  }
  if (outcome.kind === 'refused') return { course: 'stalled', reason: 'JobRefused', message: outcome.message };
  const { message } = decision;
  switch (decision.kind) {
    case 'wait':
      return { course: decision.stalled ? 'stalled' : 'on-its-way', reason: decision.reason, message };
    case 'take':
      return { course: 'on-its-way', reason: takingReason(situation.backup), message };
    case 'verify':
      return { course: 'on-its-way', reason: 'Verifying', message };
    case 'retry':
      return {
        course: 'on-its-way',
        reason: 'Retrying',
        message: retryMessage(attempt.number + 1, decision.reason, message),
      };
    case 'fail':
      return { course: 'stalled', reason: decision.reason, message: withCure(message, decision.cure) };
    case 'done':
      return { course: 'ready', reason: decision.reason, message };
  }
}

function attemptAfter(
  { backup, attempt, job, at }: BackupSituation,
  decision: BackupDecision,
  outcome: Outcome,
): EtcdBackupStatus['attempt'] {
  const { name } = backup.metadata;
  if ((decision.kind === 'take' || decision.kind === 'verify') && outcome.kind === 'acted') {
    const stage = decision.kind === 'take' ? 'Take' : 'Verify';
    const number = decision.order.attempt;
    return { number, stage, job: backupJobName(name, stage, number), object: outcome.object, startedAt: timestamp(at) };
  }
  // Another invocation made it, and was ended before it could tell.
  if (!job?.ours || attempt.begun) return undefined;
  const { stage, number } = attempt;
  return { number, stage, job: job.name, object: job.object, startedAt: job.startedAt };
}

/** What a later attempt waits for is gone once it has begun. */
function failureAfter(
  { backup, at }: BackupSituation,
  decision: BackupDecision,
  begins: boolean,
): EtcdBackupStatus['lastFailure'] {
  if (decision.kind === 'done') return undefined;
  if (decision.kind === 'retry' || decision.kind === 'fail') {
    const message = decision.message.slice(0, 2000);
    const failure = { reason: decision.reason, message, at: timestamp(at) };
    return decision.kind === 'fail' ? failure : { ...failure, retryAt: timestamp(decision.retryAt) };
  }
  const before = backup.status?.lastFailure;
  if (!before || !begins) return before;
  const { retryAt: _, ...told } = before;
  return told;
}

function factsStatus({ record, proof }: Facts, { at, job, backup }: BackupSituation): Partial<EtcdBackupStatus> {
  const podCreatedAt = job?.podCreatedAt ?? job?.startedAt;
  return {
    // The pod that looks for what was stored before says nothing of the writes in it.
    ...(record && !backup.spec.existing && podCreatedAt && { podCreatedAt }),
    ...(record && {
      object: record.object,
      bytes: record.bytes,
      size: sizeOf(record.bytes),
      sha256: record.sha256,
      snapshotBytes: record.snapshot.bytes,
      etcdVersion: record.etcdVersion,
      clusterID: record.clusterId,
      revision: record.revision,
      ...(record.hashKV && { hashKV: record.hashKV }),
      takenAt: timestamp(new Date(record.takenAt)),
      took: durationOf(record.tookMs),
    }),
    ...(proof && {
      verified: {
        at: timestamp(at),
        revision: proof.revision,
        ...(proof.hashKV && { hashKV: proof.hashKV }),
        etcdVersion: proof.etcdVersion,
        took: durationOf(proof.tookMs),
      },
    }),
  };
}

/** Ready always; Reconciling and Stalled only while true (kstatus). */
function statementsOf({ course, reason, message }: BackupStatement): readonly Said[] {
  const besides = { ready: [], 'on-its-way': ['Reconciling'], stalled: ['Stalled'] } as const;
  return [
    { type: 'Ready', status: course === 'ready' ? 'True' : 'False', reason, message },
    ...besides[course].map((type) => ({
      ...{ type, status: 'True' as const, reason },
      message: type === 'Stalled' ? withRunbook(message, 'EtcdBackup') : message,
    })),
  ];
}

function durationOf(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)}s`;
  return `${Math.floor(ms / 60_000)}m${Math.round((ms % 60_000) / 1000)}s`;
}

export function sizeOf(bytes: number): string {
  const units = ['B', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const value = bytes / 1024 ** power;
  return `${power > 0 && value < 10 ? value.toFixed(1) : Math.round(value)}${units[power]}`;
}
