import type { CertManagerCertificate } from '../../../../manifests/render/cert-manager-certificate.ts';
import type { CertManagerView } from '../observation.ts';

/** The Certificates of one cluster, as they were listed; or why they could not be. */
export type Requested =
  | { readonly kind: 'unasked' }
  | { readonly kind: 'known'; readonly items: readonly CertManagerCertificate[] }
  | Extract<CertManagerView, { kind: 'unknown' }>;
