import { type RefusedApproval, withoutRefused } from '../../objects/approvals.ts';
import type { Observation } from './observation.ts';

export interface FourEyes {
  /** Approvals of the cluster that do not count. */
  readonly refused: readonly RefusedApproval[];
  /** Signers of what was applied since the cluster was last as asked; absent where no fleet that asks could be read. */
  readonly signers?: readonly string[];
  /** Its spec is not the one that its fleet left: an editor has changed it since. */
  readonly differs?: boolean;
}

/** As if what is refused had not been given: all that is concluded from the cluster then is. */
export function withoutApprovals(seen: Observation, { refused, signers, differs }: FourEyes): Observation {
  const known = { ...seen, ...(signers && { signers }), ...(differs && { differs }) };
  if (refused.length === 0) return known;
  return { ...known, cluster: withoutRefused(seen.cluster, refused), refusedApprovals: refused };
}
