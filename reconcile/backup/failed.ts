import type { failures } from '../jobs/failure.ts';
import type { BackupDecision } from './decision.ts';
import type { BackupReason } from './reasons.ts';
import { type BackupSituation, type JobView, maxAttempts } from './situation.ts';

/** Before the second attempt, and three times as long before each later one. */
const firstBackoffSeconds = 20;
const longestBackoffSeconds = 600;

/** @param kind whether it may pass by itself; a person's or a defect never does */
export function failed(
  { attempt, at, backup }: BackupSituation,
  reason: BackupReason,
  message: string,
  kind: (typeof failures)[keyof typeof failures],
  running?: JobView,
): BackupDecision {
  // It would go on without being waited for.
  const job = running?.state.kind === 'broke' && running.state.reason === 'EtcdNotStarted' ? { job: running } : {};
  const what =
    attempt.stage === 'Take' ? message : `${backup.status?.object ?? 'the object'} is not verified: ${message}`;
  if (kind === 'retry' && attempt.number < maxAttempts) {
    const seconds = Math.min(firstBackoffSeconds * 3 ** (attempt.number - 1), longestBackoffSeconds);
    const retryAt = new Date(at.getTime() + seconds * 1000);
    return { kind: 'retry', reason, message: what, retryAt, ...job };
  }
  const tried = kind === 'retry' ? `${maxAttempts} attempts failed, the last one: ` : '';
  const cure =
    attempt.stage === 'Take' || kind !== 'defect'
      ? 'correct that, then create another EtcdBackup'
      : 'back up again, and keep older backups until one is verified';
  return { kind: 'fail', reason, message: `${tried}${what}`, cure, ...job };
}

/** The same when the attempt fails as while the next one is awaited: nothing changes in between. */
export function retryMessage(next: number, reason: string, message: string): string {
  return `attempt ${next - 1} of ${maxAttempts} failed (${reason}), the next one follows: ${message}`;
}
