import type { CommitStatus } from '../forges/forge.ts';

/** A status as it was last sent: kept in the fleet's status, so that an equal one is never sent again. */
export interface SentStatus extends CommitStatus {
  /** Two invocations sent one at once, or an answer was lost: which the forge has is not known. */
  readonly uncertain?: boolean;
}

/** Whether the forge has it, as far as is known. */
export function isSent(wanted: CommitStatus, last: Omit<SentStatus, 'state'> & { readonly state: string }): boolean {
  return (
    !last.uncertain &&
    wanted.sha === last.sha &&
    wanted.context === last.context &&
    wanted.state === last.state &&
    wanted.description === last.description &&
    wanted.targetURL === last.targetURL
  );
}
