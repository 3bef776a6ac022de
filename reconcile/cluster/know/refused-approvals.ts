import { type RefusedApproval, withoutRefused } from '../../objects/approvals.ts';
import type { Observation } from './observation.ts';

/** As if what is refused had not been given: all that is concluded from the cluster then is. */
export function withoutApprovals(
  seen: Observation,
  { refused, signers }: { readonly refused: readonly RefusedApproval[]; readonly signers?: readonly string[] },
): Observation {
  const known = signers ? { ...seen, signers } : seen;
  if (refused.length === 0) return known;
  return { ...known, cluster: withoutRefused(seen.cluster, refused), refusedApprovals: refused };
}
