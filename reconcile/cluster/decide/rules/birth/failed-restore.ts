import type { WantedSnapshot } from '../../../know/backups/restore.ts';
import type { RecoveryJobView, RecoveryPodView } from '../../../know/observation.ts';

/** A restore whose Job has failed, or whose trial has. */
export interface FailedRestore {
  readonly name: string;
  readonly job: RecoveryJobView;
  readonly attempt: number;
  /** `undefined`: its pod has gone, or ended without a word, as after an eviction. */
  readonly failure: RecoveryPodView['failure'] | undefined;
  readonly wanted: WantedSnapshot;
}
