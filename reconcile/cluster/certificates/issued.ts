import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import {
  type CertManagerCertificate,
  certificateResource,
  isCurrent,
} from '../../../manifests/build/cert-manager-certificate.ts';
import { type CertificateState, certificateState } from '../../../manifests/build/cert-manager-state.ts';
import { issuedSecretName, type LeafPlan } from '../../../manifests/build/certificate-names.ts';
import { hashOf } from '../../../manifests/build/inputs-hash.ts';
import { labels } from '../../../manifests/build/names.ts';
import { isControlledBy } from '../../../manifests/build/owner-reference.ts';
import type { KubeObject, OwnerReference, Secret } from '../../../manifests/kube-types.ts';
import { judgeSecret } from '../../certificates/judge.ts';
import type { Kube } from '../../kube.ts';
import type { IssuedView, RequestedView, SecretState, Slot } from '../observation.ts';
import { isForeign } from '../slots.ts';
import { certificateFor, orderFor, type Requested } from './requested.ts';

interface Place {
  readonly kube: Kube;
  readonly cluster: EtcdCluster;
  readonly slots: readonly Slot[];
  readonly at: Date;
  readonly signal: AbortSignal;
}

type Known = Extract<Requested, { kind: 'known' }>;

/**
 * What cert-manager has for one leaf. A Certificate that is not among those listed is asked for by name: without our labels it
 * is somebody else's, or ours and edited.
 *
 * @throws {KubeError}
 */
export async function issuedView(
  place: Place,
  plan: LeafPlan,
  { items }: Known,
  readSecret: (name: string) => Promise<Secret | undefined>,
): Promise<IssuedView> {
  const { kube, cluster, at, signal } = place;
  const name = issuedSecretName(plan);
  const listed = items.find(({ metadata }) => metadata.name === name);
  const [found, secret] = await Promise.all([
    listed ?? kube.get<CertManagerCertificate>(certificateResource, cluster.metadata.namespace, name, { signal }),
    readSecret(name),
  ]);
  const certificate = requestedView(place, plan, found);
  return {
    name,
    certificate,
    secret: issuedSecretState(cluster.metadata.name, name, secret, certificate),
    owned: certificate.state === 'ours' && (secret ? isOwnedBy(secret, certificate.uid) : false),
    ...judgeSecret({ data: secret && (secret.data ?? {}), plan: { ...plan, secretName: name }, now: at }),
  };
}

function requestedView(
  { cluster, slots }: Place,
  plan: LeafPlan,
  found: CertManagerCertificate | undefined,
): RequestedView {
  if (!found) return { state: 'missing' };
  const owner = plan.peer === undefined ? cluster : slots.find(({ name }) => name === plan.peer)?.peer;
  const ownerUid = owner && ('uid' in owner ? owner.uid : owner.metadata.uid);
  if (ownerUid === undefined || !isControlledBy(found, ownerUid) || found.metadata.deletionTimestamp !== undefined) {
    return { state: isForeign(found) ? 'foreign' : 'leftover' };
  }
  return {
    state: 'ours',
    uid: found.metadata.uid ?? '',
    current: asksForWhatIsWanted({ cluster, slots }, plan, found),
    createdAt: new Date(found.metadata.creationTimestamp ?? 0),
    said: certificateState(found),
  };
}

/** Where the spec names no issuer any more, what was asked for stays. Its owner is no part of the question: it never moves. */
export function asksForWhatIsWanted(
  { cluster, slots }: Pick<Place, 'cluster' | 'slots'>,
  plan: LeafPlan,
  found: CertManagerCertificate,
): boolean {
  const order = orderFor(cluster, slots, plan);
  const [owner] = found.metadata.ownerReferences ?? [];
  return !order || !owner || isCurrent(found, certificateFor(cluster, order, owner));
}

/**
 * cert-manager writes the name of the Certificate onto every Secret of its own. One without it is somebody else's; one with it
 * may be of an earlier Certificate of the same name: cert-manager keeps Secrets, unless they have an owner.
 */
export function issuedSecretState(
  cluster: string,
  name: string,
  secret: Secret | undefined,
  certificate: Pick<RequestedView, 'state'> & { readonly uid?: string },
): SecretState {
  if (!secret) return 'missing';
  const { annotations = {}, labels: marks = {}, ownerReferences = [] } = secret.metadata;
  if (annotations['cert-manager.io/certificate-name'] !== name) return 'foreign';
  const owner = ownerReferences.find(isCertificate);
  if (owner && owner.uid !== certificate.uid && owner.name === name) return 'leftover';
  const marked = marks[labels.managedBy] === 'etcd-ratchet' && marks[labels.cluster] === cluster;
  return certificate.state === 'ours' || marked ? 'ours' : 'foreign';
}

export function isOwnedBy({ metadata }: KubeObject, certificateUid: string): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => uid === certificateUid);
}

/** Not its controller, and no finalizers of cert-manager's are needed for it. */
export function certificateOwner(name: string, uid: string): OwnerReference {
  const { apiVersion, kind } = certificateResource;
  return { apiVersion, kind, name, uid };
}

function isCertificate({ apiVersion, kind }: OwnerReference): boolean {
  return kind === certificateResource.kind && apiVersion.startsWith('cert-manager.io/');
}

/** What cert-manager has issued so far, as one word: it counts every issuance of a Certificate. */
export function issuanceWord(issuances: readonly { readonly name: string; readonly said: CertificateState }[]): string {
  const counted = issuances.flatMap(({ name, said }) =>
    said.state === 'ready' ? [[name, said.revision ?? 0, said.notAfter ?? '']] : [],
  );
  return hashOf(counted.toSorted()).slice(0, 12);
}
