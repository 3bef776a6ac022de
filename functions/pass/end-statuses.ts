import { isOrphan } from '../../reconcile/fleet/pending-record.ts';
import { KubeError } from '../../reconcile/interfaces/kube.ts';
import { isAboutAll } from '../../reconcile/stepping/kind.ts';
import { isIn } from '../../reconcile/stepping/shard.ts';
import type { FleetsRead } from './read-fleets.ts';
import { timeToTell } from './report-fleets.ts';

/** Records in one pass: each may cost as long as its forge is waited for. */
const mostAtOnce = 10;

/**
 * Ends the pending commit statuses of fleets that are deleted: ticks only, from what such a fleet left on record. Never
 * throws for what the API server or a forge says: the next tick tries again.
 */
export async function endStatuses({ context, world, records }: FleetsRead): Promise<void> {
  const { kube, log, dryRun, followUp, deadline, shard } = context;
  if (!records || dryRun || followUp || !isAboutAll(context) || context.signal.aborted) return;
  try {
    const seen = await records.seen();
    const orphans = seen.filter((one) => isOrphan(one, world.fleets) && isIn(shard, one.metadata.name));
    if (orphans.length === 0) return;
    const { dueFirst, endRecord } = await import('./end-record.ts');
    const now = kube.now() ?? new Date();
    const told = { kube, log, fleets: world.fleets, now, ...timeToTell(deadline) };
    await Promise.all(
      dueFirst(orphans, now)
        .slice(0, mostAtOnce)
        .map((one) => endRecord(one, told)),
    );
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    log({ problem: error.message }, 'pending statuses of deleted fleets could not be looked for');
  }
}
