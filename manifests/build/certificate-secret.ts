import type { KubeObject, OwnerReference, Secret } from '../kube-types.ts';
import { type Authority, authoritySecretName, type LeafPlan } from './certificate-names.ts';
import { annotations, labels, labelsOf, peerLabels } from './names.ts';

/** PEM. The keys of the map are those that every workload expects of a TLS Secret. */
export interface TlsFiles {
  readonly 'tls.crt': string;
  readonly 'tls.key': string;
  readonly 'ca.crt': string;
}

/** What a CA's Secret says about itself, so that nothing rests on anybody's memory. */
export interface AuthorityRecord {
  /** The birth that it belongs to: another cluster of the same name gets another CA. */
  readonly token: string;
  /** Which CAs the members must have loaded. */
  readonly trust: string;
  /** The request that the last rotation answered. */
  readonly rotation?: string;
}

/**
 * The Secret of one leaf. It goes with its owner: a member's with the peer, the others with the cluster.
 */
export function leafSecret(plan: LeafPlan, cluster: KubeObject, owner: OwnerReference, files: TlsFiles): Secret {
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
    data: encoded(files),
  };
}

/**
 * The Secret of a CA. It has no owner: it stays as long as retained volumes do, so that who trusted the cluster before it was
 * deleted trusts it when it is applied again.
 */
export function authoritySecret(
  authority: Authority,
  cluster: KubeObject,
  { token, trust, rotation }: AuthorityRecord,
  files: TlsFiles,
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
        [annotations.trust]: trust,
        ...(rotation !== undefined && { [annotations.rotateCertificates]: rotation }),
      },
    },
    type: 'kubernetes.io/tls',
    data: encoded(files),
  };
}

/** Whether a Secret without an owner is the CA of a cluster of this name: made by us, for it. */
export function isAuthorityOf(cluster: string, { metadata }: KubeObject): boolean {
  return (
    metadata.labels?.[labels.managedBy] === 'etcd-ratchet' &&
    metadata.labels[labels.cluster] === cluster &&
    (metadata.ownerReferences ?? []).length === 0 &&
    metadata.annotations?.[annotations.token] !== undefined
  );
}

export function authorityRecordOf({ metadata }: KubeObject): AuthorityRecord {
  const rotation = metadata.annotations?.[annotations.rotateCertificates];
  return {
    token: metadata.annotations?.[annotations.token] ?? '',
    trust: metadata.annotations?.[annotations.trust] ?? '',
    ...(rotation !== undefined && { rotation }),
  };
}

function encoded(files: TlsFiles): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([key, pem]) => [key, Buffer.from(pem).toString('base64')]));
}
