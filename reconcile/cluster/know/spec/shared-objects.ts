import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import type { ConfigMap, NetworkPolicy, PodDisruptionBudget, Service } from '../../../../manifests/kube-types.ts';
import { disruptionBudget } from '../../../../manifests/render/disruption-budget.ts';
import { externalService } from '../../../../manifests/render/external-service.ts';
import { networkPolicy } from '../../../../manifests/render/network-policy.ts';
import { revocations } from '../../../../manifests/render/revocations.ts';
import { clientService, headlessService } from '../../../../manifests/render/services.ts';
import type { SharedObject } from '../actions/birth.ts';
import type { Shared } from '../observation.ts';

/** Where an observation has it. */
export const sharedKeys = {
  'headless-service': 'headlessService',
  'client-service': 'clientService',
  'disruption-budget': 'disruptionBudget',
  'network-policy': 'networkPolicy',
  'no-network-policy': 'networkPolicy',
  'external-service': 'externalService',
  'no-external-service': 'externalService',
  revocations: 'revocations',
  'no-revocations': 'revocations',
} as const satisfies Record<SharedObject, keyof Shared>;

export type Specified = Service | PodDisruptionBudget | NetworkPolicy;
export type SharedKubeObject = Specified | ConfigMap;

export function hasSpec(object: SharedKubeObject): object is Specified {
  return 'spec' in object;
}

/** What no spec says. */
export interface SharedFacts {
  /** Of the disruption budget. */
  readonly minAvailable: number;
  /** Of the list of refused clients. */
  readonly leftOut?: readonly string[] | undefined;
}

/** An object that a cluster's members share, as it should be, or would be. */
export function sharedObject(
  kind: SharedObject,
  cluster: EtcdCluster,
  { minAvailable, leftOut }: SharedFacts,
): SharedKubeObject {
  switch (kind) {
    case 'headless-service':
      return headlessService(cluster);
    case 'client-service':
      return clientService(cluster);
    case 'disruption-budget':
      return disruptionBudget(cluster, minAvailable);
    case 'external-service':
    case 'no-external-service':
      return externalService(cluster);
    case 'network-policy':
    case 'no-network-policy':
      return networkPolicy(cluster);
    case 'revocations':
    case 'no-revocations':
      return revocations(cluster, leftOut);
  }
}
