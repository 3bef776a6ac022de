import type { ListBackups } from '../../reconcile/backup/list.ts';
import { ownImage } from '../../reconcile/jobs/own-image.ts';
import type { SchedulesStepped } from '../../reconcile/schedule/pass.ts';
import type { PassContext } from './pass-context.ts';

/**
 * A step for every schedule of backups, beside those of the clusters. Not where an invocation is about some clusters or
 * one fleet only: the next tick sees to the schedules.
 */
export async function stepAllSchedules(context: PassContext, list: ListBackups): Promise<SchedulesStepped> {
  const { kube, namespace, signal, log, dryRun, holder, clusters, fleet, egress } = context;
  if (clusters.length > 0 || fleet !== undefined) return {};
  const { stepSchedules } = await import('../../reconcile/schedule/pass.ts');
  const image = () => ownImage(kube, holder, signal);
  return stepSchedules({ kube, namespace, signal, log, dryRun, image, egress, list });
}
