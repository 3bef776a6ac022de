import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import type { KubeObject } from '../../../../manifests/kube-types.ts';
import { type CertManagerCertificate, isCurrent } from '../../../../manifests/render/cert-manager-certificate.ts';
import type { CertificateState } from '../../../../manifests/render/cert-manager-state.ts';
import type { LeafPlan } from '../../../../manifests/render/certificate-names.ts';
import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import type { Slot } from '../observation.ts';
import { certificateFor, orderFor } from './order.ts';

/** Where the spec no longer names an issuer, the request stays. Its owner is not compared: it never changes. */
export function asksForWhatIsWanted(
  { cluster, slots }: { readonly cluster: EtcdCluster; readonly slots: readonly Slot[] },
  plan: LeafPlan,
  found: CertManagerCertificate,
): boolean {
  const order = orderFor(cluster, slots, plan);
  const [owner] = found.metadata.ownerReferences ?? [];
  return !order || !owner || isCurrent(found, certificateFor(cluster, order, owner));
}

/** What cert-manager has issued so far, as one word: it counts every issuance of a Certificate. */
export function issuanceWord(issuances: readonly { readonly name: string; readonly said: CertificateState }[]): string {
  const counted = issuances.flatMap(({ name, said }) =>
    said.state === 'ready' ? [[name, said.revision ?? 0, said.notAfter ?? '']] : [],
  );
  return hashOf(counted.toSorted()).slice(0, 12);
}

export function isOwnedBy({ metadata }: KubeObject, certificateUid: string): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => uid === certificateUid);
}
