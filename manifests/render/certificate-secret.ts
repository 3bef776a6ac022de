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
  /**
   * Since when every member and client presents a leaf of this CA, while the CA before it is still trusted. ISO 8601.
   */
  readonly servedSince?: string;
}

/**
 * The Secret of one leaf. It goes with its owner: a member's with the peer, the others with the cluster.
 */
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

/**
 * The Secret of a CA. It has no owner: it stays as long as retained volumes do, so that who trusted the cluster before
 * it was deleted trusts it when it is applied again.
 */
export function authoritySecret(
  authority: Authority,
  cluster: KubeObject,
  { token, trust, rotation, servedSince }: AuthorityRecord,
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
      },
    },
    type: 'kubernetes.io/tls',
    data,
  };
}

/**
 * Whether a Secret without an owner is the CA of a cluster of this name: made by us, for it. Its labels say nothing: a
 * backup tool or a policy engine may have taken them off, and they come back when it is written next.
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
  return {
    token: metadata.annotations?.[annotations.token] ?? '',
    ...(trust !== undefined && { trust }),
    ...(rotation !== undefined && { rotation }),
    ...(servedSince !== undefined && Number.isFinite(Date.parse(servedSince)) && { servedSince }),
  };
}
