import { quorumOf } from '../know/membership/quorum.ts';
import { votersOf } from '../know/membership/voters.ts';
import type { Observation } from '../know/observation.ts';
import { costsOf } from '../know/plan/costs.ts';
import type { PlannedStep } from './plan.ts';

/** Voters that are left while a plan starts members anew, one at a time; `undefined`: it starts none anew. */
export function riskOf({ membership }: Pick<Observation, 'membership'>, steps: readonly PlannedStep[]) {
  if (costsOf(steps).restarts === 0 || membership.kind !== 'known') return undefined;
  const voters = votersOf(membership.members).length;
  if (voters < 2) return 'no client is served while its only member starts anew';
  const left = voters - 1;
  const spare = left - quorumOf(voters);
  const then =
    spare < 0
      ? 'no quorum answers then'
      : spare === 0
        ? 'the loss of another stops writes'
        : `${spare} more may be lost`;
  return `${left} of ${voters} voters are left while a member starts anew: ${then}`;
}
