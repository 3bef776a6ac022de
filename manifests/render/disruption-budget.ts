import type { EtcdCluster } from '../api/etcd-cluster.ts';
import type { PodDisruptionBudget } from '../kube-types.ts';
import { hashOf } from './inputs-hash.ts';
import { annotations, labelsOf, podSelector } from './names.ts';
import { ownerReference } from './owner-reference.ts';

/**
 * Arbitrates between our own rolling and `kubectl drain`. `minAvailable` is a number: `maxUnavailable` counts what one
 * controller wants, and each of our pods has its own. An unhealthy pod may be evicted only while the others satisfy the
 * budget: a cluster without quorum loses nothing.
 */
export function disruptionBudget(cluster: EtcdCluster, minAvailable: number): PodDisruptionBudget {
  const { name, namespace } = cluster.metadata;
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: labelsOf(name),
      annotations: { [annotations.inputsHash]: hashOf({ name, owner: cluster.metadata.uid, minAvailable }) },
      ownerReferences: [ownerReference('EtcdCluster', cluster)],
    },
    spec: {
      minAvailable,
      selector: { matchLabels: podSelector(name) },
      unhealthyPodEvictionPolicy: 'IfHealthyBudget',
    },
  };
}
