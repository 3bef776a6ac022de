import type { ClusterHistoryEntry } from '../../../manifests/api/etcd-cluster-status.ts';
import { mayPass } from '../../../reconcile/cluster/know/plan/as-foretold.ts';

type History = readonly ClusterHistoryEntry[];

/**
 * What was done, as if nothing had failed: a step that failed in passing may have taken effect all the same, and counts
 * where no later one repeats it.
 */
export function doneIn(history: History = []): History {
  return settled(history, (one, other) => one.action === other.action && one.target === other.target);
}

/** Members that were restarted, in their order. What failed half-way is finished by a restart of another name. */
export function restartedIn(history: History): readonly (string | undefined)[] {
  const restarts = history.filter(({ action }) => action === 'change-template' || action === 'restart-member');
  return settled(restarts, (one, other) => one.target === other.target).map(({ target }) => target);
}

function settled(history: History, isRepeated: (one: ClusterHistoryEntry, later: ClusterHistoryEntry) => boolean) {
  return history.filter((step, index) => {
    if (step.outcome === 'acted') return true;
    return mayPass(step) && !history.slice(index + 1).some((later) => isRepeated(step, later));
  });
}
