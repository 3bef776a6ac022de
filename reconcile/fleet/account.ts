import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { isOurAccount } from '../../manifests/api/our-accounts.ts';
import { fleetDefaults } from '../../manifests/api/spec-defaults.ts';
import { type Kube, KubeError } from '../interfaces/kube.ts';

/** Why a fleet is not acted for: also the reason of its conditions. */
export const accountRefused = 'AccountRefused';

export function serviceAccountOf({ spec, metadata }: EtcdFleet): { readonly namespace: string; readonly name: string } {
  return { namespace: metadata.namespace ?? '', name: spec.serviceAccountName ?? fleetDefaults.serviceAccountName };
}

/**
 * The API server, as the fleet's service account. With an account of the installation, a fleet would have the rights of
 * etcd-ratchet in every namespace. The Role lists the accounts as well (workload/fleet-host.yaml), and the CRD refuses
 * those of etcd-ratchet.
 *
 * @throws {KubeError} AccountRefused
 */
export function actingFor(fleet: EtcdFleet, kube: Kube): Kube {
  const account = serviceAccountOf(fleet);
  if (!isOurAccount(account.name)) return kube.as(account);
  throw new KubeError(
    `spec.serviceAccountName is ${account.name}, an account of etcd-ratchet itself: name an account of the fleet's own, which has only the rights that the fleet needs`,
    { class: 'terminal', reason: accountRefused },
  );
}
