import { parseDuration } from '../../../../manifests/api/duration.ts';
import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import { issuerDefaults, tlsDefaults } from '../../../../manifests/api/spec-defaults.ts';
import type { OwnerReference } from '../../../../manifests/kube-types.ts';
import {
  type CertManagerCertificate,
  certManagerCertificate,
  type IssuerRef,
} from '../../../../manifests/render/cert-manager-certificate.ts';
import { issuedSecretName, type LeafPlan } from '../../../../manifests/render/certificate-names.ts';
import type { CertificateOrder } from '../actions/certificates.ts';
import type { Slot } from '../observation.ts';
import { peerUidOf } from './wanted.ts';

/** The request to cert-manager for one leaf; `undefined` when the spec, now with another mode, names no issuer. */
export function orderFor({ spec }: EtcdCluster, slots: readonly Slot[], plan: LeafPlan): CertificateOrder | undefined {
  const { certificateLifetime = tlsDefaults.certificateLifetime } = spec.tls ?? {};
  const issuer = issuerFor(spec, plan);
  if (!issuer) return undefined;
  return {
    plan,
    issuerRef: issuer,
    lifetime: parseDuration(certificateLifetime),
    ...peerUidOf(slots, plan),
  };
}

/** The Certificate for an order. It has the name of the Secret that cert-manager writes. */
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
export function issuerOf({ spec }: EtcdCluster, plan: LeafPlan): string {
  const issuer = issuerFor(spec, plan);
  return issuer ? `${issuer.kind ?? issuerDefaults.kind} ${issuer.name}` : 'its issuer';
}

function issuerFor({ tls }: EtcdCluster['spec'], { authority }: LeafPlan): IssuerRef | undefined {
  const { issuerRef, peerIssuerRef } = tls?.certManager ?? {};
  return authority === 'peer' ? (peerIssuerRef ?? issuerRef) : issuerRef;
}
