import type { TakeOrder, VerifyOrder } from '../../manifests/render/backup-jobs.ts';
import type { Proof } from './agent/compare.ts';
import type { BackupRecord } from './agent/record.ts';
import type { BackupReason } from './reasons.ts';
import type { JobView } from './situation.ts';

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
