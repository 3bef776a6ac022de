import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { tlsDefaults } from '../../manifests/api/spec-defaults.ts';
import { mayBeSkipped } from './at-rest.ts';

/**
 * Most of what a cold invocation loads: what steps clusters, what etcd is asked with, and what certificates are signed
 * with.
 */
export type Library = 'step' | 'etcd3' | 'x509';

/** A commit that is read in another thread asks for steps, and often for a birth. */
export const neededForNewCommit: readonly Library[] = ['step', 'x509'];

/** What the next steps of these clusters will most likely use. To be wrong costs 0.1 s, and nothing else. */
export function neededFor(clusters: readonly EtcdCluster[], now: Date): readonly Library[] {
  return [
    ...(clusters.some((one) => one.status?.clusterID !== undefined && !mayBeSkipped(one, now))
      ? (['etcd3'] as const)
      : []),
    ...(clusters.some(signsFirst) ? (['x509'] as const) : []),
  ];
}

/** A birth signs in its first step. The API server gives a new object the status that it has by default. */
function signsFirst({ spec, status }: EtcdCluster): boolean {
  return (status?.observedGeneration ?? -1) < 0 && (spec.tls?.mode ?? tlsDefaults.mode) === 'Managed';
}
