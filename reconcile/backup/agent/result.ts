import type { Egress } from '../../../manifests/egress/egress.ts';
import type { FailureReason } from '../../jobs/failure.ts';
import type { Proof } from './compare.ts';
import type { Pruned } from './prune.ts';
import type { BackupRecord } from './record.ts';
import type { AgentRequest } from './request.ts';
import type { SoundSnapshot } from './trailer.ts';

/** What the agent says at its end, as one JSON document. */
export interface AgentResult {
  readonly ok: boolean;
  readonly operation?: AgentRequest['operation'];
  /** Of the backup that was taken, or that was read. Also where what came after it failed: the backup is there. */
  readonly record?: BackupRecord;
  /** That it was restored and compared. */
  readonly proof?: Proof & { readonly tookMs: number };
  readonly snapshot?: SoundSnapshot;
  /** Also where it failed: what went until then. */
  readonly pruned?: Pruned;
  /** Only where it is not ok. */
  readonly reason?: FailureReason;
  readonly message?: string;
  /** Whether the same request may succeed later. */
  readonly retry?: boolean;
}

export interface AgentContext {
  readonly signal: AbortSignal;
  readonly now: () => Date;
  readonly note: (text: string) => void;
  /** Where the installation lets it go. Absent: what one that says nothing allows. */
  readonly egress?: Egress;
}
