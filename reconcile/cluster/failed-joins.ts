import type { ClusterHistoryEntry } from '../../manifests/api/etcd-cluster.ts';
import type { Situation } from './decide.ts';
import { type Decision, refuse } from './decision.ts';

const minute = 60_000;

/** After the second failure ten minutes, then twice as long each time. History keeps few: it does not grow without end. */
const firstPause = 10 * minute;
const longestPause = 160 * minute;

/**
 * A new member that came to nothing is tried again: at once after the first, then after ever longer pauses, because what it lacked (room
 * on a node, an image) may return without any change of the spec. A change of the spec is tried at once. Meanwhile a person is told why
 * the last one failed.
 */
export function learnersFail(situation: Situation): Decision | undefined {
  const failures = failedJoins(situation);
  const last = failures.at(-1);
  const until = nextTryAt(situation);
  if (!last || until === undefined || situation.at.getTime() >= until) return undefined;
  const { name, namespace = 'default' } = situation.cluster.metadata;
  return refuse(
    'LearnersFail',
    `new members failed to join, and the next one is tried at ${new Date(until).toISOString()}; the last one: ${last.message}`,
    `correct what the last one failed for (kubectl -n ${namespace} describe etcdclusters.etcd.ratchet.dev ${name} shows its events); the next one is tried by itself, and at once after a change of the spec`,
  );
}

/** In milliseconds; `undefined`: nothing is to be waited for. */
export function nextTryAt(situation: Pick<Situation, 'cluster'>): number | undefined {
  const failures = failedJoins(situation);
  const last = failures.at(-1);
  if (!last || failures.length < 2) return undefined;
  return Date.parse(last.at) + Math.min(longestPause, firstPause * 2 ** (failures.length - 2));
}

/** Since the last one that got through. Told by the status: where it is lost, it is only tried again. */
function failedJoins({ cluster }: Pick<Situation, 'cluster'>): readonly ClusterHistoryEntry[] {
  const { history = [] } = cluster.status ?? {};
  const last = history.findLastIndex(({ reason }) => reason === 'PromotingLearner');
  return history
    .slice(last + 1)
    .filter(({ reason, outcome }) => reason === 'RemovingFailedLearner' && outcome === 'acted')
    .filter(({ generation }) => generation === cluster.metadata.generation);
}
