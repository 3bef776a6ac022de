import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { PodDisruptionBudget, Service } from '../../../manifests/kube-types.ts';
import { disruptionBudget } from '../../../manifests/render/disruption-budget.ts';
import { clientService, headlessService } from '../../../manifests/render/services.ts';
import type { SharedObject } from './action.ts';

/** An object that a cluster's members share, as it should be. */
export function sharedObject(
  kind: SharedObject,
  cluster: EtcdCluster,
  minAvailable: number,
): Service | PodDisruptionBudget {
  switch (kind) {
    case 'headless-service':
      return headlessService(cluster);
    case 'client-service':
      return clientService(cluster);
    case 'disruption-budget':
      return disruptionBudget(cluster, minAvailable);
  }
}
