import type { ClusterHistoryEntry } from '../../../manifests/api/etcd-cluster-status.ts';
import { says } from '../../reasons/reasons.ts';
import { type Decision, refuse } from '../know/decision.ts';
import type { Situation } from '../know/situation.ts';

const minute = 60_000;

/** Ten minutes after the second failure, then twice as long each time, up to a limit. */
const firstPause = 10 * minute;
const longestPause = 160 * minute;

/**
 * A learner that was not promoted in time is tried again: at once after the first failure, then after longer and longer
 * pauses, because a missing node or image may return without a change of the spec. A change of the spec is tried at
 * once. Meanwhile a person reads why the last one failed.
 */
export function learnersFail(situation: Situation): Decision | undefined {
  const failures = failedJoins(situation);
  const last = failures.at(-1);
  const until = nextTryAt(situation);
  if (!last || until === undefined || situation.at.getTime() >= until) return undefined;
  const { name, namespace = 'default' } = situation.cluster.metadata;
  return refuse(
    'LearnersFail',
    `new members were not promoted in time, and the next one is tried at ${new Date(until).toISOString()}; the last failure: ${last.message}`,
    `correct what the last failure names (its events: kubectl -n ${namespace} describe etcdclusters.etcd.ratchet.dev ${name}); the next member is tried at that time, and at once after a change of the spec`,
  );
}

/** In milliseconds; `undefined`: the next try may begin now. */
function nextTryAt(situation: Pick<Situation, 'cluster'>): number | undefined {
  const failures = failedJoins(situation);
  const last = failures.at(-1);
  if (!last || failures.length < 2) return undefined;
  return Date.parse(last.at) + Math.min(longestPause, firstPause * 2 ** (failures.length - 2));
}

/**
 * Since the last promotion. Read from status: where status is lost, the next try comes earlier, and no harm is done.
 */
function failedJoins({ cluster }: Pick<Situation, 'cluster'>): readonly ClusterHistoryEntry[] {
  const { history = [] } = cluster.status ?? {};
  const last = history.findLastIndex((entry) => says(entry, 'PromotingLearner'));
  return history
    .slice(last + 1)
    .filter((entry) => says(entry, 'RemovingFailedLearner') && entry.outcome === 'acted')
    .filter(({ generation }) => generation === cluster.metadata.generation);
}
