import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import type { OwnerReference, Secret } from '../../../../manifests/kube-types.ts';
import {
  type CertManagerCertificate,
  certificateResource,
} from '../../../../manifests/render/cert-manager-certificate.ts';
import { certificateState } from '../../../../manifests/render/cert-manager-state.ts';
import { askedBy } from '../../../../manifests/render/certificate-allowance.ts';
import { issuedSecretName, type LeafPlan, memberSecretName } from '../../../../manifests/render/certificate-names.ts';
import { labels } from '../../../../manifests/render/names.ts';
import { isControlledBy } from '../../../../manifests/render/owner-reference.ts';
import type { Kube } from '../../../interfaces/kube.ts';
import { judgeSecret } from '../../../x509/judge.ts';
import { asksForWhatIsWanted, isOwnedBy } from '../../know/certificates/issued.ts';
import type { Requested } from '../../know/certificates/requested.ts';
import type { NamesAllowed } from '../../know/certificates/wanted.ts';
import type { IssuedView, RequestedView, SecretState, Slot } from '../../know/observation.ts';
import { isForeign } from '../slots.ts';

interface Place {
  readonly kube: Kube;
  readonly cluster: EtcdCluster;
  readonly slots: readonly Slot[];
  readonly at: Date;
  readonly signal: AbortSignal;
}

type Known = Extract<Requested, { kind: 'known' }>;

/**
 * What cert-manager has for one leaf. A Certificate that is not in the list is read by name: without our labels it
 * belongs to another owner, or was edited.
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
  if (!isOfLeaf({ cluster, slots }, plan, found)) {
    return { state: isForeign(found) ? 'foreign' : 'leftover' };
  }
  return {
    state: 'ours',
    uid: found.metadata.uid ?? '',
    asked: askedBy(found.spec),
    current: asksForWhatIsWanted({ cluster, slots }, plan, found),
    createdAt: new Date(found.metadata.creationTimestamp ?? 0),
    said: certificateState(found),
  };
}

/** Not of another owner, nor of an earlier cluster or member of the name. */
function isOfLeaf(
  { cluster, slots }: Pick<Place, 'cluster' | 'slots'>,
  { peer }: Pick<LeafPlan, 'peer'>,
  found: CertManagerCertificate,
): boolean {
  const owner = peer === undefined ? cluster : slots.find(({ name }) => name === peer)?.peer;
  const ownerUid = owner && ('uid' in owner ? owner.uid : owner.metadata.uid);
  return ownerUid !== undefined && isControlledBy(found, ownerUid) && found.metadata.deletionTimestamp === undefined;
}

/**
 * The Certificates of a cluster, with those of members that lost our labels: which names stay in has to be known before
 * anything is planned.
 *
 * @throws {KubeError}
 */
export async function withUnlabelled({ kube, cluster, slots, signal }: Place, { items }: Known): Promise<Known> {
  const names = slots
    .filter(({ peer }) => peer?.current)
    .map(({ name }) => issuedSecretName({ secretName: memberSecretName(name, 'server') }))
    .filter((name) => !items.some(({ metadata }) => metadata.name === name));
  const found = await Promise.all(
    names.map((name) =>
      kube.get<CertManagerCertificate>(certificateResource, cluster.metadata.namespace, name, { signal }),
    ),
  );
  return { kind: 'known', items: [...items, ...found.flatMap((one) => one ?? [])] };
}

/** What the Certificate of a member's server asks for by now, if it is ours. */
export function askedIn(place: Pick<Place, 'cluster' | 'slots'>, { items }: Known): Required<NamesAllowed>['asked'] {
  return (secretName) => {
    const peer = place.slots.find(({ name }) => memberSecretName(name, 'server') === secretName)?.name;
    const found = items.find(({ metadata }) => metadata.name === issuedSecretName({ secretName }));
    return peer !== undefined && found && isOfLeaf(place, { peer }, found) ? askedBy(found.spec) : undefined;
  };
}

/**
 * cert-manager writes the name of the Certificate onto every Secret of its own. A Secret without it belongs to another
 * owner; with it, it may be of an earlier Certificate of the same name: cert-manager keeps Secrets without an owner.
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

/** Not its controller, and no finalizers of cert-manager's are needed for it. */
export function certificateOwner(name: string, uid: string): OwnerReference {
  const { apiVersion, kind } = certificateResource;
  return { apiVersion, kind, name, uid };
}

function isCertificate({ apiVersion, kind }: OwnerReference): boolean {
  return kind === certificateResource.kind && apiVersion.startsWith('cert-manager.io/');
}
