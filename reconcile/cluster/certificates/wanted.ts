import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { tlsDefaults } from '../../../manifests/api/tls-defaults.ts';
import type { TlsMode } from '../../../manifests/api/tls-settings.ts';
import { clusterLeaves, type LeafPlan, memberLeaves } from '../../../manifests/build/certificate-names.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';

/** The mode that the volumes were born with; before there are any, the one that the spec asks for. */
export function tlsModeOf(cluster: EtcdCluster, slots: readonly Slot[]): TlsMode {
  const born = slots.map(recordOf).find((record) => record !== undefined)?.tlsMode;
  return born ?? cluster.spec.tls?.mode ?? tlsDefaults.mode;
}

/** The leaves that a cluster needs in this mode, ours first: it is what etcd is asked with. */
export function wantedLeaves(cluster: EtcdCluster, slots: readonly Slot[], mode: TlsMode): readonly LeafPlan[] {
  if (mode === 'Disabled') return [];
  const { name, namespace = '' } = cluster.metadata;
  const dnsNames = cluster.spec.tls?.dnsNames ?? [];
  const members = slots
    .filter(({ peer }) => peer?.current && !peer.leaving)
    .flatMap((slot) => memberLeaves({ namespace, cluster: name, dnsNames }, slot.name));
  const [reconciler, application] = clusterLeaves(name);
  if (mode !== 'Provided') return [reconciler, application, ...members];
  const { peerSecretName, serverSecretName, clientSecretName } = cluster.spec.tls ?? {};
  const given = { peer: peerSecretName, server: serverSecretName, reconciler: clientSecretName } as const;
  return [reconciler, ...members].flatMap((plan) => {
    const secretName = plan.purpose === 'application' ? undefined : given[plan.purpose];
    return secretName === undefined ? [] : [{ ...plan, secretName }];
  });
}
