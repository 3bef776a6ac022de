import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { keyOf, ownObjects } from '../../reconcile/fleet/names.ts';
import { isIn } from '../../reconcile/stepping/shard.ts';
import type { PassContext } from './pass-context.ts';

/** If clusters are named, only they are stepped; their fleets are passed only to be told. */
export function chosenFleets(
  { fleet, clusters: names, tellFleets = false, shard }: Chosen,
  fleets: readonly EtcdFleet[],
  clusters: readonly EtcdCluster[],
): readonly EtcdFleet[] {
  const alive = fleets.filter(
    ({ metadata: { deletionTimestamp, uid = '' } }) => deletionTimestamp === undefined && isIn(shard, uid),
  );
  if (names.length > 0) {
    const named = chosenClusters({ clusters: names }, fleets, clusters);
    return tellFleets ? alive.filter((one) => ownObjects(one, named).length > 0) : [];
  }
  return fleet ? alive.filter((one) => keyOf(one) === `${fleet.namespace}/${fleet.name}`) : alive;
}

export function chosenClusters(
  { fleet, clusters: names, unasked }: Chosen,
  fleets: readonly EtcdFleet[],
  clusters: readonly EtcdCluster[],
): readonly EtcdCluster[] {
  if (names.length > 0) {
    const wanted = new Set(names.map(({ namespace, name }) => `${namespace}/${name}`));
    return clusters.filter((cluster) => wanted.has(keyOf(cluster)));
  }
  if (!fleet) return unasked ? clusters.filter((cluster) => !unasked.has(keyOf(cluster))) : clusters;
  const owner = fleets.find((one) => keyOf(one) === `${fleet.namespace}/${fleet.name}`);
  return owner ? ownObjects(owner, clusters) : [];
}

export type Chosen = Pick<PassContext, 'fleet' | 'clusters' | 'tellFleets' | 'unasked' | 'shard'>;
