import { parseDuration } from '../../../manifests/api/duration.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { tlsDefaults } from '../../../manifests/api/tls-defaults.ts';
import {
  type CertManagerCertificate,
  certificateResource,
  certManagerCertificate,
} from '../../../manifests/build/cert-manager-certificate.ts';
import { issuedSecretName, type LeafPlan } from '../../../manifests/build/certificate-names.ts';
import { annotations, labels } from '../../../manifests/build/names.ts';
import type { OwnerReference, PersistentVolumeClaim } from '../../../manifests/kube-types.ts';
import { type Kube, KubeError } from '../../kube.ts';
import type { CertificateOrder } from '../actions.ts';
import type { CertManagerView, Slot } from '../observation.ts';
import { peerUidOf } from './wanted.ts';

/** The Certificates of one cluster, as they were listed; or why they could not be. */
export type Requested =
  | { readonly kind: 'unasked' }
  | { readonly kind: 'known'; readonly items: readonly CertManagerCertificate[] }
  | Extract<CertManagerView, { kind: 'unknown' }>;

/**
 * All Certificates of ours in one LIST, and none at all where no cluster is of cert-manager's: the kind need not be installed,
 * nor be ours to see. What goes wrong is a value, so that it stops no other cluster.
 */
export async function listRequested(
  kube: Kube,
  clusters: readonly EtcdCluster[],
  volumeClaims: (cluster: EtcdCluster) => readonly PersistentVolumeClaim[],
  options: { readonly namespace: string | undefined; readonly signal: AbortSignal },
): Promise<(cluster: EtcdCluster) => Requested> {
  const asking = new Set(clusters.filter((cluster) => asksCertManager(cluster, volumeClaims(cluster))));
  if (asking.size === 0) return () => ({ kind: 'unasked' });
  const found = await listAll(kube, options);
  return (cluster) => {
    if (!asking.has(cluster)) return { kind: 'unasked' };
    if (found.kind !== 'known') return found;
    const { name, namespace } = cluster.metadata;
    const items = found.items.filter(
      ({ metadata }) => metadata.namespace === namespace && metadata.labels?.[labels.cluster] === name,
    );
    return { kind: 'known', items };
  };
}

function asksCertManager({ spec }: EtcdCluster, volumeClaims: readonly PersistentVolumeClaim[]): boolean {
  return (
    spec.tls?.mode === 'CertManager' ||
    volumeClaims.some(({ metadata }) => metadata.annotations?.[annotations.tlsMode] === 'CertManager')
  );
}

async function listAll(
  kube: Kube,
  options: { readonly namespace: string | undefined; readonly signal: AbortSignal },
): Promise<Exclude<Requested, { kind: 'unasked' }>> {
  try {
    const labelSelector = `${labels.managedBy}=etcd-ratchet`;
    const { items } = await kube.list<CertManagerCertificate>(certificateResource, { ...options, labelSelector });
    return { kind: 'known', items };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return whyNot(error);
  }
}

function whyNot({ status, message }: KubeError): Extract<CertManagerView, { kind: 'unknown' }> {
  const kind = `${certificateResource.kind} (${certificateResource.apiVersion})`;
  if (status === 404) {
    return {
      kind: 'unknown',
      reason: 'CertManagerNotInstalled',
      message: `spec.tls.mode is CertManager, and there is no kind ${kind} here`,
      cure: 'install cert-manager, with its custom resource definitions',
    };
  }
  if (status === 401 || status === 403) {
    return {
      kind: 'unknown',
      reason: 'CertManagerForbidden',
      message: `etcd-ratchet may not list ${kind}`,
      cure: 'add the component manifests/install/components/cert-manager to the installation',
    };
  }
  return { kind: 'unknown', reason: 'CertManagerUnreachable', message };
}

/**
 * What to ask cert-manager for one leaf; `undefined` when the spec, which by now says another mode, names no issuer.
 */
export function orderFor({ spec }: EtcdCluster, slots: readonly Slot[], plan: LeafPlan): CertificateOrder | undefined {
  const { issuerRef, peerIssuerRef, certificateLifetime = tlsDefaults.certificateLifetime } = spec.tls ?? {};
  const issuer = plan.authority === 'peer' ? (peerIssuerRef ?? issuerRef) : issuerRef;
  if (!issuer) return undefined;
  return {
    plan,
    issuerRef: issuer,
    lifetime: parseDuration(certificateLifetime),
    ...peerUidOf(slots, plan),
  };
}

/** The Certificate that stands for an order. It is named as the Secret that cert-manager is to write. */
export function certificateFor(
  { metadata }: EtcdCluster,
  { plan, issuerRef, lifetime }: CertificateOrder,
  owner: OwnerReference,
): CertManagerCertificate {
  return certManagerCertificate(
    { ...plan, secretName: issuedSecretName(plan) },
    { cluster: metadata.name, namespace: metadata.namespace ?? '', owner, issuerRef, lifetime },
  );
}

/** As people name it in a message: `ClusterIssuer company-ca`. */
export function issuerOf({ spec }: EtcdCluster, { authority }: LeafPlan): string {
  const { issuerRef, peerIssuerRef } = spec.tls ?? {};
  const issuer = authority === 'peer' ? (peerIssuerRef ?? issuerRef) : issuerRef;
  return issuer ? `${issuer.kind ?? 'Issuer'} ${issuer.name}` : 'its issuer';
}
