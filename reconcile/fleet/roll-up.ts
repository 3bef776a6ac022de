import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleetStatus } from '../../manifests/api/etcd-fleet.ts';
import { courseOf } from '../reasons.ts';
import { conditionOf, type KStatus, kstatusOf } from './kstatus.ts';
import { keyOf } from './names.ts';

/** One cluster in a line: for the fleet's conditions and for commit statuses. */
export interface ClusterVerdict {
  readonly namespace: string;
  readonly name: string;
  readonly verdict: KStatus;
  readonly message: string;
}

export function verdictOf(cluster: EtcdCluster): ClusterVerdict {
  const verdict = restsAsAsked(cluster) ? 'Current' : kstatusOf(cluster);
  const { namespace = '', name } = cluster.metadata;
  return { namespace, name, verdict, message: messageOf(cluster, verdict) };
}

/**
 * A commit asked to suspend it: it is as the commit asked, whether it runs or not, and there is nothing to wait for.
 */
function restsAsAsked({ metadata, status }: EtcdCluster): boolean {
  const isCurrent = status?.observedGeneration === metadata.generation;
  return isCurrent && courseOf(conditionOf(status, 'Ready')?.reason) === 'stopped';
}

function messageOf({ metadata, status }: EtcdCluster, verdict: KStatus): string {
  switch (verdict) {
    case 'Current':
      return conditionOf(status, 'Ready')?.message || 'ready';
    case 'Failed':
      return conditionOf(status, 'Stalled')?.message || 'stalled';
    case 'Terminating':
      return 'is being deleted';
    case 'InProgress': {
      const current = status?.observedGeneration === metadata.generation;
      const told = conditionOf(status, 'Reconciling')?.message || conditionOf(status, 'Ready')?.message;
      // What was said about an earlier spec says nothing about this one.
      return (current && told) || 'the change has not been acted on yet';
    }
    default:
      return verdict satisfies never;
  }
}

export function rollUp(verdicts: readonly ClusterVerdict[]): NonNullable<EtcdFleetStatus['clusters']> {
  const count = (...wanted: KStatus[]) => verdicts.filter(({ verdict }) => wanted.includes(verdict)).length;
  return {
    total: verdicts.length,
    ready: count('Current'),
    inProgress: count('InProgress', 'Terminating'),
    stalled: count('Failed'),
  };
}

/** By namespace and name, so that the first one named in a message is the same in every pass. */
export function verdictsOf(clusters: readonly EtcdCluster[]): ClusterVerdict[] {
  return clusters.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).map(verdictOf);
}
