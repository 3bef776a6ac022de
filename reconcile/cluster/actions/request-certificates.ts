import {
  type CertManagerCertificate,
  certificateResource,
  corrected,
  isCurrent,
} from '../../../manifests/build/cert-manager-certificate.ts';
import { issuedSecretName } from '../../../manifests/build/certificate-names.ts';
import { isControlledBy } from '../../../manifests/build/owner-reference.ts';
import { isReason, resources } from '../../kube.ts';
import type { ActionOf, CertificateOrder } from '../actions.ts';
import { issuedSecretState } from '../certificates/issued.ts';
import { certificateFor } from '../certificates/requested.ts';
import { moved } from '../outcome.ts';
import { leafOwner, liveSecret } from './certificate-secrets.ts';
import { type ActContext, nameTaken } from './context.ts';

/**
 * Asks cert-manager for leaves: by POST where nothing was asked yet, else by PUT over exactly what was read.
 *
 * Guards what others have: cert-manager takes over whatever Secret it is given the name of, so that is looked at just before.
 */
export async function requestCertificates(
  { requests }: ActionOf<'request-certificates'>,
  context: ActContext,
): Promise<void> {
  for (const order of requests) await request(order, context);
}

async function request(order: CertificateOrder, context: ActContext): Promise<void> {
  const { kube, cluster, signal } = context;
  const { namespace, name: clusterName } = cluster.metadata;
  const name = issuedSecretName(order.plan);
  const owner = await leafOwner(order, context);
  const wanted = certificateFor(cluster, order, owner);
  const [found, secret] = await Promise.all([
    kube.get<CertManagerCertificate>(certificateResource, namespace, name, { signal }),
    liveSecret(context, name),
  ]);
  if (found && !isControlledBy(found, owner.uid)) throw nameTaken(certificateResource, name);
  if (found && isCurrent(found, wanted)) return;
  const certificate = found
    ? ({ state: 'ours', uid: found.metadata.uid ?? '' } as const)
    : { state: 'missing' as const };
  const state = issuedSecretState(clusterName, name, secret, certificate);
  if (state === 'foreign') throw nameTaken(resources.secrets, name);
  if (state === 'leftover') throw moved(`Secret ${name} of an earlier Certificate is still being collected`);
  try {
    if (found) await kube.update(certificateResource, corrected(found, wanted), { signal });
    else await kube.create(certificateResource, wanted, { signal });
  } catch (error) {
    if (isReason(error, 'AlreadyExists') || isReason(error, 'Conflict')) {
      throw moved(`Certificate ${name} was written by somebody else meanwhile`);
    }
    throw error;
  }
}
