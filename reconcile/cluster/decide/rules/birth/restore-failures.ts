import { kubectl } from '../../../../../manifests/render/kubectl.ts';
import { restoreContainers } from '../../../../../manifests/render/restore-job.ts';
import { type FailureReason, failures, type ToldFailure } from '../../../../jobs/failure.ts';
import { cureOfStart } from '../../../../jobs/pod-start.ts';
import { act, type Decision, refuse, wait } from '../../../know/decision.ts';
import type { RecoveryJobView } from '../../../know/observation.ts';
import { isKilled } from '../../../know/pods/job-pod.ts';
import type { Ref } from '../../../know/ref.ts';
import type { Situation } from '../../../know/situation.ts';
import { pauseLeft } from '../recovery/after-job.ts';
import type { FailedRestore } from './failed-restore.ts';
import { noRoomForTrial, trialFailed } from './trial-failures.ts';

/** A restore whose Job has failed: what is tried again, and what is left to a person. */

/** Then a person looks: the Job of the last one stays. */
const mostAttempts = 10;

export function failed(restore: FailedRestore, situation: Situation): Decision {
  const { failure, job, name, wanted } = restore;
  const { namespace } = situation.cluster.metadata;
  if (failure === undefined || isKilled(failure)) return tryAgain(restore, situation);
  const again = `it is tried again when ${wanted.field} changes, or after: ${kubectl({ namespace }, `delete job ${job.name}`)}`;
  if (failure.reason === 'OOMKilled') {
    return refuse(
      'RestoreFailed',
      `container ${failure.container} of Job ${job.name} was killed because it has too little memory`,
      `raise spec.resources.limits.memory; ${again}`,
    );
  }
  const { told } = failure;
  if (told) return asTold(told, restore, { situation, again });
  if (failure.container === restoreContainers.restore) {
    return refuse(
      'SnapshotDefective',
      `etcdutl does not restore ${wanted.object} for ${name}: ${failure.words || `exit code ${failure.code}`}`,
      `name another snapshot in ${wanted.field}, or, if it is of a newer minor, set spec.version to that; ${again}`,
    );
  }
  return tryAgain(restore, situation);
}

function asTold(
  { reason, message }: ToldFailure,
  restore: FailedRestore,
  { situation, again }: { readonly situation: Situation; readonly again: string },
): Decision {
  const { name } = restore;
  const kind = failures[reason];
  if (reason === 'NewerVersion')
    return refuse('SnapshotTooNew', `${name} can't be restored: ${message}`, `set spec.version to that; ${again}`);
  if (reason === 'RevisionTooHigh')
    return refuse(
      'RevisionsExhausted',
      `${name} can't be restored: ${message}`,
      `name another snapshot in ${restore.wanted.field}; ${again}`,
    );
  if (reason === 'TrialFailed') return trialFailed(restore, situation);
  if (reason === 'NoRoomForTrial') return noRoomForTrial(restore, message, situation);
  if (kind === 'retry' || isLate(reason)) return tryAgain(restore, situation);
  if (kind === 'defect') {
    return refuse(
      'SnapshotDefective',
      `${restore.wanted.object} is not restored to ${name}: ${message}`,
      `name another snapshot in ${restore.wanted.field}; ${again}`,
    );
  }
  return refuse('RestoreFailed', `${name} can't be restored: ${message}`, `correct that; ${again}`);
}

/** A later attempt was there before it. */
function isLate(reason: FailureReason): boolean {
  return reason === 'Superseded';
}

/** After a while that doubles with each attempt. */
function tryAgain(restore: FailedRestore, { at, cluster }: Situation): Decision {
  const { job, attempt, failure, name } = restore;
  const { namespace } = cluster.metadata;
  if (attempt >= mostAttempts) {
    return refuse(
      'RestoreFailed',
      `${name} could not be restored in ${mostAttempts} attempts; the last one: ${wordsOf(failure)}`,
      `correct what its message or its node names, then: ${kubectl({ namespace }, `delete job ${job.name}`)}`,
    );
  }
  const afterSeconds = pauseLeft(job, failure ? pauseAfter(attempt) : 0, at);
  if (afterSeconds === 0) return repeating(job);
  return wait('AwaitingRestore', `the restore of ${name} failed, and is tried again soon: ${wordsOf(failure)}`, {
    on: 'time',
    afterSeconds,
  });
}

function wordsOf(failure: FailedRestore['failure']): string {
  if (failure === undefined) return 'its pod ended without a result';
  const { told, container, reason, code } = failure;
  return told?.message ?? `container ${container} ended with ${reason ?? code}`;
}

/** In seconds. */
function pauseAfter(attempt: number): number {
  return Math.min(300, 5 * 2 ** (attempt - 1));
}

/** The existing Job is deleted with its pod; then the next one is made. */
export function repeating({ name, uid }: Ref): Decision {
  return act(
    { kind: 'delete-recovery-job', job: { name, uid } },
    'RepeatingRestore',
    `Job ${name} ended without a result, or the spec has changed: it is recreated; no client was admitted yet`,
  );
}

export function notStarted(
  { name }: Ref,
  { reason, message }: NonNullable<RecoveryJobView['notStarted']>,
  { cluster }: Situation,
): Decision {
  const look = kubectl(cluster.metadata, `describe job ${name}`);
  return refuse(
    'RestorePodStuck',
    `the pod of Job ${name} does not start: ${reason}: ${message}`,
    `${cureOfStart(reason)}: the restore then goes on; what else there is to see: ${look}`,
  );
}

/** @param isBirth nothing else is there that could go with the volume */
export function podStuck(
  { name }: Ref,
  pod: string,
  held: string,
  { situation: { cluster }, isBirth }: { readonly situation: Situation; readonly isBirth: boolean },
): Decision {
  const anew = isBirth
    ? ' (only for another storage class, delete the EtcdCluster and its PersistentVolumeClaim, and create it again)'
    : '';
  return refuse(
    'RestorePodStuck',
    `the pod of Job ${name} does not start (${held})`,
    `see the cause: ${kubectl(cluster.metadata, `describe pod ${pod}`)}; the restore goes on when that, or the spec, is corrected${anew}`,
  );
}
