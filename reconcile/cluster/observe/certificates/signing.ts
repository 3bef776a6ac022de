import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import {
  type CertificateRequest,
  certificateRequestResource,
  requestState,
} from '../../../../manifests/render/cert-manager-request.ts';
import { isControlledBy } from '../../../../manifests/render/owner-reference.ts';
import { type Kube, KubeError } from '../../../interfaces/kube.ts';
import type { AuthorityFacts } from '../../../x509/inspect.ts';
import { judgeIntermediate } from '../../../x509/judge-intermediate.ts';
import { kindText, whyNotRead } from '../../know/certificates/cert-manager-trouble.ts';
import { intermediateDue } from '../../know/certificates/intermediate.ts';
import type { AuthorityView, ReadCertificates, SigningView } from '../../know/observation.ts';

/** What an issuer of cert-manager makes of the request to sign the client CA. */

interface Place {
  readonly kube: Kube;
  readonly cluster: EtcdCluster;
  readonly at: Date;
  readonly signal: AbortSignal;
}

/** Read only where a signature is due: a cluster at rest asks nothing of cert-manager. @throws {KubeError} */
export async function withSigning(
  place: Place,
  authorities: ReadCertificates['authorities'],
): Promise<ReadCertificates['authorities']> {
  const { client } = authorities;
  const order = intermediateDue(place.cluster, { authorities }, place.at);
  return client && order
    ? { ...authorities, client: { ...client, signing: await read(place, order.name, client) } }
    : authorities;
}

async function read(
  { kube, cluster, at, signal }: Place,
  name: string,
  { facts }: AuthorityView,
): Promise<SigningView> {
  const { namespace } = cluster.metadata;
  try {
    const found = await kube.get<CertificateRequest>(certificateRequestResource, namespace, name, { signal });
    return signingView(cluster, found, facts, at);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const asked = `read ${kindText(certificateRequestResource)}, to have the client CA signed`;
    return { state: 'unknown', trouble: whyNotRead(error, asked) };
  }
}

export function signingView(
  { metadata }: EtcdCluster,
  found: CertificateRequest | undefined,
  facts: AuthorityFacts | undefined,
  at: Date,
): SigningView {
  if (!found || !facts) return { state: 'missing' };
  const { uid = '', creationTimestamp } = found.metadata;
  if (!isControlledBy(found, metadata.uid ?? '')) return { state: 'foreign' };
  const said = requestState(found);
  const seen = { uid, createdAt: new Date(creationTimestamp ?? 0) };
  if (said.state === 'signed') return { state: 'signed', ...seen, ...judgeIntermediate(said, facts, at) };
  const { state, reason, message } = said;
  return { state, ...seen, said: { reason, message } };
}
