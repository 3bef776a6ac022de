import { type RefusedApproval, withoutRefused } from '../../objects/approvals.ts';
import type { Observation } from './observation.ts';

/** As if they had not been given: all that is concluded from the cluster then is. */
export function withoutApprovals(seen: Observation, refused: readonly RefusedApproval[]): Observation {
  if (refused.length === 0) return seen;
  return { ...seen, cluster: withoutRefused(seen.cluster, refused), refusedApprovals: refused };
}
