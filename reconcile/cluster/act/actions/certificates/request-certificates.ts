import { certificateResource } from '../../../../../manifests/render/cert-manager-certificate.ts';
import { issuedSecretName } from '../../../../../manifests/render/certificate-names.ts';
import { resources } from '../../../../interfaces/kube.ts';
import type { Program } from '../../../../requests/program.ts';
import type { CertificateOrder } from '../../../know/actions/certificates.ts';
import { moved } from '../../../know/outcome.ts';
import { orderCertificate, readCertificate, readIssued } from '../../requests/cert-manager.ts';
import { ownerOf } from '../../requests/leaves.ts';
import { nameTaken } from '../context.ts';
import { defineAction, type Leased } from '../define.ts';

/**
 * Asks cert-manager for leaves.
 *
 * Guards what others have: cert-manager takes over whatever Secret it is given the name of, so that is looked at just
 * before.
 */
export const requestCertificates = defineAction('request-certificates', {
  target: ({ requests }) => requests.map(({ plan }) => plan.secretName).join(', '),
  parts: (action) => action.requests.map((request) => ({ ...action, requests: [request] })),
  *run({ requests }, cluster) {
    for (const order of requests) yield* request(order, cluster);
  },
});

function* request(order: CertificateOrder, cluster: Leased): Program {
  const name = issuedSecretName(order.plan);
  const owner = yield* ownerOf(order, cluster);
  const found = yield* readCertificate({ order, owner });
  if (found && !found.current) throw nameTaken(certificateResource, name);
  if (found?.asksForThis) return;
  const secret = yield* readIssued({ name, ...(found && { certificateUid: found.uid }) });
  if (secret?.state === 'foreign') throw nameTaken(resources.secrets, name);
  if (secret?.state === 'leftover') throw moved(`Secret ${name} of an earlier Certificate is still being collected`);
  yield* orderCertificate({ order, owner, ...(found && { readAt: found.readAt }) });
}
