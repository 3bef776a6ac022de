import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { Condition } from '../../../manifests/api/metadata.ts';

export function condition(
  object: { readonly status?: { readonly conditions?: readonly Condition[] } },
  type: string,
): Condition | undefined {
  return object.status?.conditions?.find((candidate) => candidate.type === type);
}

/** Ready, about the newest spec. */
export function isReady(cluster: EtcdCluster): boolean {
  return (
    cluster.status?.observedGeneration === cluster.metadata.generation && condition(cluster, 'Ready')?.status === 'True'
  );
}

/** Ready, and nothing is left to do. */
export function isConverged(cluster: EtcdCluster): boolean {
  return isReady(cluster) && cluster.status?.lastDecision?.reason === 'Converged';
}

/** Converged, and so many members serve. */
export function isWholeOf(size: number): (cluster: EtcdCluster) => boolean {
  return (cluster) => isConverged(cluster) && cluster.status?.readyReplicas === size;
}

export const isWhole = isWholeOf(3);

/** Stalled, about the newest spec, for this reason; `unchanged`: with the words of the look before. */
export function isStalledFor(reason: string, { unchanged = false } = {}): (cluster: EtcdCluster) => boolean {
  let before: string | undefined;
  return (cluster) => {
    const stalled = condition(cluster, 'Stalled');
    const isSame = stalled?.message === before;
    before = stalled?.message;
    const isNew = cluster.status?.observedGeneration === cluster.metadata.generation;
    return isNew && stalled?.reason === reason && (isSame || !unchanged);
  };
}
