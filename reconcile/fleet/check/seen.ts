import { createHash } from 'node:crypto';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { keyOf } from '../names.ts';

/** A hash of all that can change a check in a fleet's spec and clusters, from the lists that a pass reads anyway. */
export function seenOf({ metadata }: EtcdFleet, clusters: readonly EtcdCluster[]): string {
  const said = [`${metadata.generation}`, ...clusters.map(saidBy).sort()];
  return createHash('sha256').update(said.join('\n')).digest('hex').slice(0, 16);
}

function saidBy(cluster: EtcdCluster): string {
  const { uid, generation, deletionTimestamp, annotations } = cluster.metadata;
  const { observedGeneration, version, members = [], conditions = [], refusals = [] } = cluster.status ?? {};
  return JSON.stringify([
    keyOf(cluster),
    uid,
    generation,
    deletionTimestamp !== undefined,
    Object.entries(annotations ?? {}).sort(),
    observedGeneration,
    version,
    // Not the leader: it moves, and only decides in which order members are taken.
    members.map(({ name, role, version }) => [name, role, version]),
    conditions.map(({ type, status, reason }) => [type, status, reason]),
    refusals.map(({ field }) => field),
  ]);
}
