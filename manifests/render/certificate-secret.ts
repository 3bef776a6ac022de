import type { KubeObject, OwnerReference, Secret } from '../kube-types.ts';
import { type Authority, authoritySecretName, type LeafPlan } from './certificate-names.ts';
import { annotations, labelsOf, peerLabels } from './names.ts';

/** Base64, under the keys that every workload expects of a TLS Secret: `tls.crt`, `tls.key`, `ca.crt`. */
export type SecretData = Readonly<Record<string, string>>;

/** What a CA's Secret says about itself, so that nothing rests on memory outside it. */
export interface AuthorityRecord {
  /** The birth that it belongs to: another cluster of the same name gets another CA. */
  readonly token: string;
  /** Names the CAs that the members must have loaded; absent until there was more than the first. */
  readonly trust?: string;
  /** The request that the last rotation answered. */
  readonly rotation?: string;
  /** Since when all present leaves of this CA, while the CA before it is still trusted. ISO 8601. */
  readonly servedSince?: string;
  /** The issuer of cert-manager that signed it, or the one before it, as well. */
  readonly issuer?: string;
}

/** The Secret of one leaf. Its owner is the peer for a member's leaf, else the cluster. */
export function leafSecret(plan: LeafPlan, cluster: KubeObject, owner: OwnerReference, data: SecretData): Secret {
  const { name, namespace } = cluster.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: plan.secretName,
      ...(namespace !== undefined && { namespace }),
      labels: plan.peer === undefined ? labelsOf(name) : peerLabels(name, plan.peer),
      ownerReferences: [owner],
    },
    type: 'kubernetes.io/tls',
    data,
  };
}

/** The Secret of a CA. Like retained volumes it has no owner, and so clients trust the cluster when applied again. */
export function authoritySecret(
  authority: Authority,
  cluster: KubeObject,
  { token, trust, rotation, servedSince, issuer }: AuthorityRecord,
  data: SecretData,
): Secret {
  const { name, namespace } = cluster.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: authoritySecretName(name, authority),
      ...(namespace !== undefined && { namespace }),
      labels: labelsOf(name),
      annotations: {
        [annotations.token]: token,
        ...(trust !== undefined && { [annotations.trust]: trust }),
        ...(rotation !== undefined && { [annotations.rotateCertificates]: rotation }),
        ...(servedSince !== undefined && { [annotations.servedSince]: servedSince }),
        ...(issuer !== undefined && { [annotations.issuer]: issuer }),
      },
    },
    type: 'kubernetes.io/tls',
    data,
  };
}

/**
 * Whether an ownerless Secret is the CA that we made for a cluster of this name. Its labels say nothing: a backup tool
 * or policy engine may have removed them, and the next write restores them.
 */
export function isAuthorityOf(cluster: string, { metadata }: KubeObject): boolean {
  return (
    (['peer', 'client'] as const).some((authority) => authoritySecretName(cluster, authority) === metadata.name) &&
    (metadata.ownerReferences ?? []).length === 0 &&
    metadata.annotations?.[annotations.token] !== undefined
  );
}

export function authorityRecordOf({ metadata }: KubeObject): AuthorityRecord {
  const rotation = metadata.annotations?.[annotations.rotateCertificates];
  const trust = metadata.annotations?.[annotations.trust];
  const servedSince = metadata.annotations?.[annotations.servedSince];
  const issuer = metadata.annotations?.[annotations.issuer];
  return {
    token: metadata.annotations?.[annotations.token] ?? '',
    ...(trust !== undefined && { trust }),
    ...(rotation !== undefined && { rotation }),
    ...(servedSince !== undefined && Number.isFinite(Date.parse(servedSince)) && { servedSince }),
    ...(issuer !== undefined && { issuer }),
  };
}
