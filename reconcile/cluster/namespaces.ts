import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { isMarked, memberOf } from '../fleet/names.ts';
import { kindOfEntry } from '../fleet/objects.ts';

/**
 * Where all is that steps of these clusters depend on: their own namespaces, and those of the other clusters of their
 * fleets, which share the room, the stages and the halts. `undefined`: it can't be told, as of a cluster that bears the
 * label of a fleet whose inventory lacks it.
 */
export function namespacesFor(
  clusters: readonly EtcdCluster[],
  fleets: readonly EtcdFleet[],
): ReadonlySet<string> | undefined {
  const needed = new Set<string>();
  for (const cluster of clusters) {
    needed.add(cluster.metadata.namespace ?? '');
    const fleet = fleets.find((one) => isMarked(one, cluster));
    if (!fleet) continue;
    if (!memberOf(fleet)(cluster)) return undefined;
    for (const entry of fleet.status?.inventory ?? [])
      if (kindOfEntry(entry) === 'EtcdCluster') needed.add(entry.namespace);
  }
  return needed;
}
