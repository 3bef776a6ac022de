import type { OwnerReference, Secret } from '../../../manifests/kube-types.ts';
import { certificateResource } from '../../../manifests/render/cert-manager-certificate.ts';
import {
  type Authority,
  authoritySecretName,
  issuedSecretName,
  type LeafPlan,
} from '../../../manifests/render/certificate-names.ts';
import { type AuthorityRecord, authoritySecret, leafSecret } from '../../../manifests/render/certificate-secret.ts';
import { labelsOf } from '../../../manifests/render/names.ts';
import { ownerReference } from '../../../manifests/render/owner-reference.ts';
import { certificateFor } from '../../../reconcile/cluster/know/certificates/order.ts';
import { wantedLeaves } from '../../../reconcile/cluster/know/certificates/wanted.ts';
import { certificateOwner } from '../../../reconcile/cluster/observe/certificates/issued.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { intermediateKey } from '../../../reconcile/x509/intermediate.ts';
import { createAuthority, issueLeaf, type Authority as Made } from '../../../reconcile/x509/issue.ts';
import { authorityData, leafData } from '../../../reconcile/x509/secret-data.ts';
import { intermediateOf, rootAuthority } from '../../e2e/support/signed-requests.ts';
import { clusterName, type Scene } from './scene.ts';

/** Secrets and Certificates to begin with, made by the same builders as in real life. */

export const managed = { mode: 'Managed' } as const;
export const byCertManager = { mode: 'CertManager', certManager: { issuerRef: { name: 'company' } } } as const;

const hours = 3_600_000;

/** Begun an hour ago, and good for this many hours from now on. */
function life(left: number) {
  const now = Date.now();
  return { notBefore: new Date(now - hours), notAfter: new Date(now + left * hours) };
}

export interface AuthorityStart {
  readonly record?: Partial<AuthorityRecord>;
  /** Hours that it is still good for: by default years. */
  readonly left?: number;
  /** An earlier CA is trusted beside it. */
  readonly beside?: boolean;
  /** An issuer of cert-manager signed it as well, or the earlier one. */
  readonly signed?: 'this' | 'earlier';
  /** `none`: nothing in it can be read. `halved`: its key is another one's. */
  readonly data?: 'none' | 'halved';
  readonly ownerReferences?: readonly OwnerReference[];
}

/** One of our CAs in its Secret, and the one before it. */
export async function authority(
  scene: Scene,
  which: Authority,
  start: AuthorityStart = {},
): Promise<{ readonly made: Made; readonly earlier: Made }> {
  const { left = 50_000, beside = false, data: damage, record, ownerReferences, signed: of } = start;
  const [earlier, other] = await Promise.all([ca('earlier', 40_000), ca('other', 40_000)]);
  const made = await createAuthority({ commonName: which, ...life(left), ...(beside && { previous: earlier }) });
  const whole = authorityData(made, beside ? [made.certificate, earlier.certificate] : [made.certificate]);
  const halved = { ...whole, 'tls.key': authorityData(other, [])['tls.key'] };
  const besideIt = of && { [intermediateKey]: signedBy(of === 'this' ? made : earlier) };
  const data = damage === 'none' ? {} : damage === 'halved' ? halved : { ...whole, ...besideIt };
  const secret = authoritySecret(which, scene.cluster, { token: 'token', ...record }, data);
  const metadata = { ...secret.metadata, ...(ownerReferences && { ownerReferences }) };
  // A Secret of the type for TLS is refused without its keys.
  await scene.make<Secret>(resources.secrets, { ...secret, metadata, ...(damage === 'none' && { type: 'Opaque' }) });
  return { made, earlier };
}

function signedBy(made: Made): string {
  const { notBefore, notAfter } = life(20_000);
  const [from, to] = [notBefore, notAfter].map((time) => new Date(Math.floor(time.getTime() / 1000) * 1000));
  const validity = { notBefore: from ?? notBefore, notAfter: to ?? notAfter };
  return intermediateOf(made, rootAuthority('company', validity), validity);
}

function ca(commonName: string, left: number): Promise<Made> {
  return createAuthority({ commonName, ...life(left) });
}

export const authorityName = authoritySecretName(clusterName, 'peer');

/** The plan of one Secret, with the peers that there are. */
export async function planOf(scene: Scene, secretName: string): Promise<LeafPlan> {
  const { slots } = (await scene.look()).observation;
  const found = wantedLeaves(scene.cluster, slots, 'Managed').find((plan) => plan.secretName === secretName);
  if (!found) throw new Error(`${secretName} is no Secret of this cluster`);
  return found;
}

/** `gone`: by a peer, or a cluster, that was there before; `none`: by nothing of ours. */
export type LeafOwnerStart = 'ours' | 'gone' | 'none';

/** A leaf in the Secret that is mounted. */
export async function leaf(
  scene: Scene,
  plan: LeafPlan,
  signer: Made,
  { owner = 'ours', isWhole = true }: { owner?: LeafOwnerStart; isWhole?: boolean } = {},
): Promise<void> {
  const reference = await referenceFor(scene, plan, owner);
  const data = await signed(plan, signer);
  const { 'ca.crt': trust } = data;
  const secret = leafSecret(plan, scene.cluster, reference, isWhole ? data : { 'ca.crt': trust });
  const { ownerReferences: _, ...bare } = secret.metadata;
  const metadata = owner === 'none' ? bare : secret.metadata;
  await scene.make<Secret>(resources.secrets, { ...secret, metadata, ...(!isWhole && { type: 'Opaque' }) });
}

async function signed(plan: LeafPlan, signer: Made) {
  return leafData(await issueLeaf(plan, signer, life(2000)), [signer.certificate]);
}

async function referenceFor(scene: Scene, { peer }: LeafPlan, owner: LeafOwnerStart): Promise<OwnerReference> {
  const ours =
    peer === undefined
      ? ownerReference('EtcdCluster', scene.cluster)
      : ownerReference('EtcdPeer', await scene.read('peer', peer));
  return owner === 'gone' ? { ...ours, uid: '00000000-0000-4000-8000-000000000004' } : ours;
}

export function orderOf(plan: LeafPlan, issuer = 'company') {
  return { plan, issuerRef: { name: issuer }, lifetime: 2160 * hours };
}

/** What cert-manager was asked for; gives its UID. */
export async function certificate(
  scene: Scene,
  plan: LeafPlan,
  { issuer = 'company', owner = 'ours' }: { issuer?: string; owner?: LeafOwnerStart } = {},
): Promise<string> {
  const wanted = certificateFor(scene.cluster, orderOf(plan, issuer), await referenceFor(scene, plan, owner));
  const { ownerReferences: _, ...bare } = wanted.metadata;
  const metadata = owner === 'none' ? bare : wanted.metadata;
  return (await scene.make(certificateResource, { ...wanted, metadata })).metadata.uid ?? '';
}

export interface IssuedStart {
  /** Of the Certificate that it goes with; absent: it goes with none. */
  readonly owner?: string;
  /** By cert-manager; otherwise it is somebody else's. */
  readonly isIssued?: boolean;
}

/** What cert-manager answers with: signed by a CA of its own. */
export async function issued(scene: Scene, plan: LeafPlan, start: IssuedStart = {}): Promise<void> {
  const { owner, isIssued = true } = start;
  const name = issuedSecretName(plan);
  const data = await signed(plan, await ca('company', 30_000));
  await scene.make<Secret>(resources.secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      labels: labelsOf(clusterName),
      ...(isIssued && { annotations: { 'cert-manager.io/certificate-name': name } }),
      ...(owner !== undefined && { ownerReferences: [certificateOwner(name, owner)] }),
    },
    type: 'kubernetes.io/tls',
    data,
  });
}
