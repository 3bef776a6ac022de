import type { ClusterHistoryEntry } from '../../../manifests/api/etcd-cluster-status.ts';
import { courseOf } from '../../reasons/reasons.ts';
import { quorumOf } from '../know/membership/quorum.ts';
import { votersOf } from '../know/membership/voters.ts';
import type { Observation } from '../know/observation.ts';
import { costsOf } from '../know/plan/costs.ts';
import type { PlannedStep } from './plan.ts';

/** Longer than this, a step waited for something else. */
const longestAwayMs = 3_600_000;

/**
 * Voters that are left while a plan starts members anew, one at a time, and for how long if that was seen; `undefined`:
 * it starts none anew.
 */
export function riskOf(
  { membership, cluster }: Pick<Observation, 'membership' | 'cluster'>,
  steps: readonly PlannedStep[],
): string | undefined {
  if (costsOf(steps).restarts === 0 || membership.kind !== 'known') return undefined;
  const voters = votersOf(membership.members).length;
  if (voters < 2) return 'no client is served while its only member starts anew';
  const seconds = awaySeconds(cluster.status?.history ?? []);
  const back = seconds === undefined ? '' : `; the last time each was back within ${seconds} s`;
  return `${leftOf(voters)}${back}`;
}

function leftOf(voters: number): string {
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

/** The longest time between two steps of the last roll: the second waits until the member of the first is back. */
export function awaySeconds(history: readonly ClusterHistoryEntry[]): number | undefined {
  const last = history.findLast(({ reason }) => courseOf(reason) === 'rolls');
  const roll = history.filter(({ reason, generation }) => reason === last?.reason && generation === last.generation);
  const times = roll.filter(({ outcome }) => outcome === 'acted').map(({ at }) => Date.parse(at));
  const gaps = times.slice(1).map((time, i) => time - (times[i] ?? time));
  const away = gaps.filter((ms) => ms > 0 && ms <= longestAwayMs);
  return away.length === 0 ? undefined : Math.ceil(Math.max(...away) / 1000);
}
