import { abortAfter } from '../../manifests/abort-after.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { ClusterResult } from '../../reconcile/cluster/result.ts';
import { listApplied } from '../../reconcile/fleet/objects.ts';
import type { FleetResult, World } from './fleet-pass.ts';
import type { FleetPassed, PassContext } from './pass-context.ts';
import type { Records } from './pending-records.ts';
import { type FleetsRead, hasWritten } from './read-fleets.ts';
import { reportFleet } from './report-fleet.ts';

/** What a dead forge may cost. */
const forgeMs = 8_000;

/** What was done is worth saying also when the time for doing is over. */
export function timeToTell(deadline: number): { readonly signal: AbortSignal; readonly forgeDeadline: number } {
  const left = Math.max(deadline - Date.now(), 3_000);
  return { signal: abortAfter(left), forgeDeadline: Date.now() + Math.min(forgeMs, left - 2_000) };
}

export interface FleetTold {
  readonly passed: FleetPassed;
  /** The clusters as they were then. */
  readonly left: readonly EtcdCluster[];
}

/** Reports each fleet independently: a dead repository or forge delays only its own fleet's news. */
export function reportFleets(read: FleetsRead, stepped: readonly ClusterResult[]): readonly Promise<FleetTold>[] {
  const { context, world, running, isLate, stepping, records } = read;
  const { kube, namespace, signal } = context;
  return running.map(async (one) => {
    const result = await one;
    const clusters = isLate(result)
      ? (await stepping.lists.fresh<EtcdCluster>('cluster')).items
      : stepping.lists.known<EtcdCluster>('cluster');
    const left = merged(clusters, stepped);
    const applied = hasWritten(result) ? () => listApplied(kube, namespace, signal) : world.applied;
    const seen = { ...world, clusters: left, ...(applied && { applied }) };
    return { passed: await reported(context, result, seen, records), left };
  });
}

/** The clusters as this pass left them. */
function merged(listed: readonly EtcdCluster[], results: readonly ClusterResult[]): readonly EtcdCluster[] {
  const stepped = new Map(results.map((result) => [result.cluster.metadata.uid, result.cluster]));
  return listed.map((cluster) => {
    const left = stepped.get(cluster.metadata.uid);
    // Changed since it was stepped: what the step reported is about an older spec.
    return left && left.metadata.generation === cluster.metadata.generation ? left : cluster;
  });
}

async function reported(
  { kube, log, dryRun, followUp, deadline, links }: PassContext,
  result: FleetResult,
  { fleets, clusters, applied }: World,
  records: Records | undefined,
): Promise<FleetPassed> {
  if (dryRun || result.kind === 'left') return { fleet: result.fleet, result };
  const { signal, forgeDeadline } = timeToTell(deadline);
  const always = !followUp;
  const told = { kube, log, signal, forgeDeadline, always, fleets, links, records, ...(applied && { applied }) };
  const fleet = await reportFleet(result, clusters, told);
  return { fleet, result };
}
