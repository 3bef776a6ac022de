import type { Decision } from '../../../know/decision.ts';
import type { Situation } from '../../../know/situation.ts';
import { requestCertificates } from './ask-cert-manager.ts';
import { certify } from './certify.ts';
import { admitCertificates } from './check-certificates.ts';

/** The certificates that members start with, by the signer: a cluster keeps one mode for life. */
export function provideCertificates(situation: Situation): Decision | undefined {
  const { mode } = situation.effective.inputs.tls;
  switch (mode) {
    case 'Managed':
      return certify(situation);
    case 'CertManager':
      return requestCertificates(situation);
    case 'Provided':
      return admitCertificates(situation);
    case 'Disabled':
      return undefined;
    default:
      return mode satisfies never;
  }
}
