import type { ClusterHistoryEntry } from '../../../manifests/api/etcd-cluster-status.ts';
import { courseOf } from '../../reasons/reasons.ts';
import type { ActionKind } from '../know/action.ts';
import { quorumOf } from '../know/membership/quorum.ts';
import { votersOf } from '../know/membership/voters.ts';
import type { Observation } from '../know/observation.ts';
import { costsOf } from '../know/plan/costs.ts';
import type { PlannedStep } from './plan.ts';

/** Longer than this, a step waited for something else. */
const longestAwayMs = 3_600_000;

const removal: ActionKind = 'remove-member';

/**
 * What a plan risks: the voters that are left while it starts members anew, one at a time, and for how long if that was
 * seen; those that are left while it replaces members, and where it removes some. `undefined`: nothing.
 *
 * @param wanted how many members there are to be
 */
export function riskOf(
  seen: Pick<Observation, 'membership' | 'cluster'>,
  steps: readonly Planned[],
  wanted: number,
): string | undefined {
  if (seen.membership.kind !== 'known') return undefined;
  const voters = votersOf(seen.membership.members).length;
  const risks = [ofRestarts(voters, seen.cluster.status?.history ?? [], steps), ofRemovals(voters, wanted, steps)];
  const told = risks.filter((one) => one !== undefined);
  return told.length === 0 ? undefined : told.join('. ');
}

type Planned = Pick<PlannedStep, 'action' | 'restarts'>;

function ofRestarts(
  voters: number,
  history: readonly ClusterHistoryEntry[],
  steps: readonly Planned[],
): string | undefined {
  if (costsOf(steps).restarts === 0) return undefined;
  if (voters < 2) return 'no client is served while its only member starts anew';
  const seconds = awaySeconds(history);
  const back = seconds === undefined ? '' : `; the last time each was back within ${seconds} s`;
  return `${meanwhile(voters, 'starts anew')}${back}`;
}

function ofRemovals(voters: number, wanted: number, steps: readonly Planned[]): string | undefined {
  const removed = steps.filter(({ action }) => action === removal).length;
  if (removed === 0) return undefined;
  if (wanted >= voters) return meanwhile(voters, 'is replaced');
  // Where the plan ends before.
  const left = Math.max(wanted, voters - removed);
  if (left < 1) return undefined;
  const spare = left - quorumOf(left);
  const then = spare === 0 ? 'the loss of one stops writes' : `${spare} may be lost`;
  return `${left} of ${voters} voters are left in the end: ${then}`;
}

function meanwhile(voters: number, what: string): string {
  const left = voters - 1;
  const spare = left - quorumOf(voters);
  const then =
    spare < 0
      ? 'no quorum answers then'
      : spare === 0
        ? 'the loss of another stops writes'
        : `${spare} more may be lost`;
  return `${left} of ${voters} voters are left while a member ${what}: ${then}`;
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
