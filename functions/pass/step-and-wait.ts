import type { Scope } from '../../reconcile/cluster/pass.ts';
import type { ClusterResult } from '../../reconcile/cluster/result.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { listClusters } from './list-clusters.ts';
import { neededFor } from './load-ahead.ts';
import { pauseSeconds, quietSeconds } from './next-look.ts';
import type { StepAndWaitContext } from './pass-context.ts';
import { inTime, patiently, whileWaiting } from './patience.ts';
import { createWaker } from './wake.ts';

export interface Stepped {
  readonly results: readonly ClusterResult[];
  /** Whether anything was done, or a cluster has gone. */
  readonly moved: boolean;
}

/**
 * One step for each; then, within the time given, another look at those that wake, until one of them has acted. So no
 * cluster gets more than one action from one invocation.
 *
 * @param onFirst called when the first step of each is over
 */
export async function stepAndWait(
  context: StepAndWaitContext,
  { clusters, all, fleets }: Required<Pick<Scope, 'clusters' | 'all' | 'fleets'>>,
  resourceVersion: string,
  onFirst: () => void = () => undefined,
): Promise<Stepped> {
  if (clusters.length === 0) return { results: [], moved: false };
  const { stepClusters } = await import('../../reconcile/cluster/pass.ts');
  const { kube, namespace, signal, log, waitMs, isStopped = async () => false, loadAhead } = context;
  const scope = { namespace, fleets };
  const until = whileWaiting(context);
  const patience = { log, until };
  const firstSteps = patiently(patience, () => stepClusters(context, { ...scope, clusters, all }));
  // While the API server makes its lists.
  if (loadAhead) setImmediate(() => neededFor(clusters).forEach(loadAhead));
  let results = await firstSteps;
  onFirst();
  if (waitMs <= 0 || context.dryRun || results.some(hasActed)) return { results, moved: results.some(hasActed) };

  // While a follow-up is under way, an invocation that begins something leaves the rest to it.
  const others = context.clusters.length === 0 && !context.fleet;
  const waker = createWaker({ kube, resourceVersion, namespace, log, others });
  let moved = false;
  try {
    while (!results.some(hasActed) && results.some(({ workRemains }) => workRemains)) {
      const woken = await waker.wait(
        results.filter(({ workRemains }) => workRemains),
        until,
        pauseSeconds(quietSeconds(results, kube.now() ?? new Date())),
      );
      if (woken.size === 0) break;
      const looked = await inTime(patience, async () => {
        if (await isStopped()) return undefined;
        waker.forget();
        const all = await listClusters(kube, namespace, signal);
        const again = all.filter((cluster) => woken.has(keyOf(cluster)));
        return {
          again,
          stepped: again.length > 0 ? await stepClusters(context, { ...scope, clusters: again, all }) : [],
        };
      });
      // Stopped, or out of time: what remains is left to the next one, which asks both again.
      if (!looked) break;
      const { again, stepped } = looked;
      const gone = new Set([...woken].filter((key) => !again.some((cluster) => keyOf(cluster) === key)));
      moved ||= gone.size > 0;
      const done = new Set(stepped.map(keyOfResult));
      results = [...results.filter((one) => !done.has(keyOfResult(one)) && !gone.has(keyOfResult(one))), ...stepped];
    }
  } finally {
    waker.close();
  }
  return {
    results: results.toSorted((a, b) => (keyOfResult(a) < keyOfResult(b) ? -1 : 1)),
    moved: moved || results.some(hasActed),
  };
}

function hasActed({ outcome }: ClusterResult): boolean {
  return outcome === 'acted';
}

function keyOfResult({ namespace, name }: ClusterResult): string {
  return `${namespace}/${name}`;
}
