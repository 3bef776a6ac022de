import type { PassContext } from './pass-context.ts';

/**
 * A step for every restore. Not where an invocation is about some clusters or one fleet only: the next tick sees to the
 * restores.
 *
 * @returns whether a cluster was made, which has a first step to take.
 */
export async function stepAllRestores(context: PassContext): Promise<boolean> {
  const { kube, namespace, signal, log, dryRun, clusters, fleet } = context;
  if (clusters.length > 0 || fleet !== undefined) return false;
  const { stepRestores } = await import('../../reconcile/restore/pass.ts');
  const results = await stepRestores({ kube, namespace, signal, log, dryRun });
  return results.some(({ made }) => made);
}
