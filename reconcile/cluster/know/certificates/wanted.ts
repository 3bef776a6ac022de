import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import { tlsDefaults } from '../../../../manifests/api/spec-defaults.ts';
import type { TlsMode } from '../../../../manifests/api/tls-settings.ts';
import { type Asked, type NameAllowance, namesRefused } from '../../../../manifests/render/certificate-allowance.ts';
import {
  clusterLeaves,
  issuedSecretName,
  type LeafPlan,
  memberLeaves,
  memberSecretName,
  type OwnNames,
  ownNamesOf,
} from '../../../../manifests/render/certificate-names.ts';
import { recordOf, type tlsForLife } from '../life.ts';
import type { Slot } from '../observation.ts';

/**
 * The mode that the volumes were created with; before there are any, the mode of the spec. When the volumes are deleted
 * nothing records it any more: then the CAs are looked up, whatever the spec says by now.
 */
export function tlsModeOf(cluster: EtcdCluster, slots: readonly Slot[]): TlsMode {
  const born = bornTls(slots)?.tlsMode;
  if (born === undefined && cluster.metadata.deletionTimestamp !== undefined) return 'Managed';
  return born ?? cluster.spec.tls?.mode ?? tlsDefaults.mode;
}

/**
 * What was decided at birth, as the volumes keep it. One volume that has the names is enough: a record that was
 * written by hand without them opens no cluster.
 */
export function bornTls(slots: readonly Slot[]): ReturnType<typeof tlsForLife> | undefined {
  const [first, ...rest] = slots.flatMap((slot) => recordOf(slot) ?? []);
  if (first === undefined) return undefined;
  const isNamed = [first, ...rest].some(({ allowedNames }) => allowedNames === 'Own');
  return { tlsMode: first.tlsMode, ...(isNamed && { allowedNames: 'Own' }) };
}

/** The names by which members let certificates in, where they do: as they were born; before that, as the spec says. */
function ownNamesIn({ metadata, spec }: EtcdCluster, slots: readonly Slot[], mode: TlsMode): OwnNames | undefined {
  const { name, namespace = '' } = metadata;
  const { allowedNames } = bornTls(slots) ?? spec.tls?.certManager ?? {};
  return mode === 'CertManager' && allowedNames === 'Own' ? ownNamesOf({ namespace, cluster: name }) : undefined;
}

/** What issuers may be asked for, and what the Certificate of a leaf asks for by now, if it is ours. */
export interface NamesAllowed {
  readonly allowances?: readonly NameAllowance[] | undefined;
  readonly asked?: (secretName: string) => Asked | undefined;
}

/** The further names of the spec that its issuer is not asked for: the installation does not let it have them. */
export function refusedNames(
  { metadata: { name, namespace = '' }, spec: { tls } }: EtcdCluster,
  mode: TlsMode,
  allowances: readonly NameAllowance[],
  asked?: Asked,
): readonly string[] {
  const { certManager: { issuerRef } = {}, dnsNames = [] } = tls ?? {};
  if (mode !== 'CertManager' || !issuerRef) return [];
  return namesRefused(dnsNames, { namespace, cluster: name, issuerRef, ...(asked && { asked }) }, allowances);
}

/**
 * The leaves that a cluster needs in this mode, ours first: etcd is asked with it. A name that is refused stays in the
 * plan of a leaf whose Certificate asks for it.
 */
export function wantedLeaves(
  cluster: EtcdCluster,
  slots: readonly Slot[],
  mode: TlsMode,
  { allowances = [], asked }: NamesAllowed = {},
): readonly LeafPlan[] {
  if (mode === 'Disabled') return [];
  const { name, namespace = '' } = cluster.metadata;
  const own = ownNamesIn(cluster, slots, mode);
  const namesOf = (peer: string) => {
    const refused = refusedNames(cluster, mode, allowances, asked?.(memberSecretName(peer, 'server')));
    return (cluster.spec.tls?.dnsNames ?? []).filter((one) => !refused.includes(one));
  };
  const members = slots
    .filter(({ peer }) => peer?.current && !peer.leaving)
    .flatMap((slot) => memberLeaves({ namespace, cluster: name, dnsNames: namesOf(slot.name), own }, slot.name));
  const [reconciler, application] = clusterLeaves(name, own);
  // With mode Provided the applications' certificate is the person's own matter.
  return mode === 'Provided' ? [reconciler, ...members] : [reconciler, application, ...members];
}

/** The peer that a leaf is for; the cluster's own leaves have none. */
export function peerUidOf(slots: readonly Slot[], plan: LeafPlan): { readonly peerUid?: string } {
  const peer = slots.find(({ name }) => name === plan.peer)?.peer;
  return peer ? { peerUid: peer.uid } : {};
}

/**
 * The Secret from which a leaf of another signer comes: cert-manager's, or a person's. Members never mount it: its
 * content is inspected first, and handed over when every member can follow (`hand-over.ts`).
 */
export function sourceNameOf({ spec }: EtcdCluster, mode: TlsMode, plan: LeafPlan): string | undefined {
  if (mode === 'CertManager') return issuedSecretName(plan);
  if (mode !== 'Provided') return undefined;
  const { peerSecretName, serverSecretName, clientSecretName } = spec.tls?.provided ?? {};
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
