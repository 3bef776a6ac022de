import type { TakeOrder, VerifyOrder } from '../../manifests/render/backup-jobs.ts';
import type { failures } from '../jobs/failure.ts';
import type { Proof } from './agent/compare.ts';
import type { BackupRecord } from './agent/record.ts';
import type { BackupReason } from './reasons.ts';
import { type BackupSituation, type JobView, maxAttempts } from './situation.ts';

/** Facts of a backup once it is stored, and once it is proven. */
export interface Facts {
  readonly record?: BackupRecord;
  readonly proof?: Proof & { readonly tookMs: number };
}

export type BackupDecision =
  /** `afterSeconds`: when the clock alone is worth another look. `stalled`: a person must do something. */
  | {
      readonly kind: 'wait';
      readonly reason: BackupReason;
      readonly message: string;
      readonly afterSeconds?: number;
      readonly stalled?: boolean;
    }
  | { readonly kind: 'take'; readonly message: string; readonly order: Omit<TakeOrder, 'image'> }
  | {
      readonly kind: 'verify';
      readonly message: string;
      readonly order: Omit<VerifyOrder, 'image'>;
      readonly facts: Facts;
    }
  /** The attempt failed, and another one is made at `retryAt`. `job`: it is deleted first. */
  | {
      readonly kind: 'retry';
      readonly reason: BackupReason;
      readonly message: string;
      readonly retryAt: Date;
      readonly job?: JobView;
    }
  | {
      readonly kind: 'fail';
      readonly reason: BackupReason;
      readonly message: string;
      readonly cure: string;
      readonly job?: JobView;
    }
  | {
      readonly kind: 'done';
      readonly reason: 'Taken' | 'Found' | 'Verified';
      readonly message: string;
      readonly facts: Facts;
    }
  | { readonly kind: 'rest' };

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
