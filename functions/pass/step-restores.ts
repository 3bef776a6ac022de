import type { RestorePassContext, RestoresStepped } from '../../reconcile/restore/pass.ts';
import type { PassContext } from './pass-context.ts';

/**
 * A step for every restore. Not where an invocation is about some clusters or one fleet only: the next tick sees to the
 * restores.
 *
 * @returns whether a cluster was made, whether any restore is under way, and whether one waits for a backup that is
 * being taken
 */
export async function stepAllRestores(
  context: PassContext,
  known: Pick<RestorePassContext, 'clusters' | 'list'>,
): Promise<RestoresStepped> {
  const { kube, namespace, signal, log, dryRun, clusters, fleet } = context;
  if (clusters.length > 0 || fleet !== undefined) return { made: false, open: false, awaits: false };
  const { stepRestores } = await import('../../reconcile/restore/pass.ts');
  return stepRestores({ kube, namespace, signal, log, dryRun, ...known });
}
