import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { tlsDefaults } from '../../../manifests/api/tls-defaults.ts';
import type { TlsMode } from '../../../manifests/api/tls-settings.ts';
import {
  clusterLeaves,
  issuedSecretName,
  type LeafPlan,
  memberLeaves,
} from '../../../manifests/build/certificate-names.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';

/**
 * The mode that the volumes were born with; before there are any, the one that the spec asks for. When they were deleted nobody
 * remembers it any more: then the CAs are looked for, whatever the spec says by now.
 */
export function tlsModeOf(cluster: EtcdCluster, slots: readonly Slot[]): TlsMode {
  const born = slots.map(recordOf).find((record) => record !== undefined)?.tlsMode;
  if (born === undefined && cluster.metadata.deletionTimestamp !== undefined) return 'Managed';
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
  // Who provides certificates has one for the applications, too.
  return mode === 'Provided' ? [reconciler, ...members] : [reconciler, application, ...members];
}

/** Of the peer that a leaf is for; of the cluster's own leaves there is none. */
export function peerUidOf(slots: readonly Slot[], plan: LeafPlan): { readonly peerUid?: string } {
  const peer = slots.find(({ name }) => name === plan.peer)?.peer;
  return peer ? { peerUid: peer.uid } : {};
}

/**
 * The Secret that a leaf comes from, of others: cert-manager's, or a person's. Members never mount it: what is in it is looked
 * at first, and handed over when everybody can follow (`hand-over.ts`).
 */
export function sourceNameOf({ spec }: EtcdCluster, mode: TlsMode, plan: LeafPlan): string | undefined {
  if (mode === 'CertManager') return issuedSecretName(plan);
  if (mode !== 'Provided') return undefined;
  const { peerSecretName, serverSecretName, clientSecretName } = spec.tls ?? {};
  switch (plan.purpose) {
    case 'peer':
      return peerSecretName;
    case 'server':
      return serverSecretName;
    case 'reconciler':
      return clientSecretName;
    case 'application':
      return undefined;
  }
}
