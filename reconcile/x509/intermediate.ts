import type { X509Certificate } from 'node:crypto';
import type { LeafPlan } from '../../manifests/render/certificate-names.ts';

/** The CA of a cluster, signed by an issuer of cert-manager as well: an intermediate CA below that issuer's. */

/** Beside `tls.crt` of a CA's Secret. */
export const intermediateKey = 'intermediate.crt';

/** A longer chain is not used: a leaf must be read with it behind, and a cross certificate (`read-entry.ts`). */
const maxCertificates = 5;
const maxKibibytes = 16;

/** The flaw follows what holds the chain. @param encoded PEM, base64 */
export function lengthFlaw(encoded: string, certificates: number): string | undefined {
  // Three bytes are four characters.
  if (encoded.length > Math.ceil((maxKibibytes * 1024) / 3) * 4) return `is larger than ${maxKibibytes} KiB of PEM`;
  if (certificates <= maxCertificates) return undefined;
  return `holds ${certificates} certificates, and may hold ${maxCertificates} at most`;
}

/** `C`: a certificate, in whichever form. */
export interface Intermediate<C> {
  /** What the issuer signed, then what leads from there to the issuer's own CA. */
  readonly chain: readonly [C, ...C[]];
  /** It is of this CA. Otherwise of the one before it, which vouches for this one by its cross certificate. */
  readonly current: boolean;
}

/**
 * What follows a leaf. OpenSSL follows the first certificate that has the name of an issuer, and never turns back, so
 * the first one has to lead on: to the issuer's CA, or over the CA before this one to either. Go tries all.
 */
export function behindLeaf<C>(
  purpose: LeafPlan['purpose'],
  { cross, intermediate }: { readonly cross?: C; readonly intermediate?: Intermediate<C> },
): readonly C[] {
  const crossed = cross === undefined ? [] : [cross];
  // Members trust the CA itself: only clients of others need to be led to another one.
  if (!intermediate || purpose !== 'server') return crossed;
  return intermediate.current ? [...intermediate.chain, ...crossed] : [...crossed, ...intermediate.chain];
}

/**
 * Whether what an issuer signed calls the key of this CA otherwise than the CA does. What leads to both names no key
 * then: OpenSSL takes no issuer that calls its key otherwise, and any where nothing is named.
 */
export function isCalledOtherwise({
  keyId,
  intermediate,
}: {
  readonly keyId?: string;
  readonly intermediate?: Intermediate<{ readonly keyId?: string }>;
}): boolean {
  const elsewhere = intermediate?.current ? intermediate.chain[0].keyId : undefined;
  return elsewhere !== undefined && elsewhere !== keyId;
}

/** Of what stands in a Secret, what vouches for this CA; `undefined`: nothing does. */
export function intermediateIn<C>(
  [certificate, cross]: readonly [X509Certificate, (X509Certificate | undefined)?],
  stored: readonly { readonly certificate: X509Certificate; readonly as: C }[],
): Intermediate<C> | undefined {
  const [first, ...rest] = stored;
  if (!first) return undefined;
  const current = isCross(certificate, first.certificate);
  const before = cross !== undefined && first.certificate.ca && first.certificate.subject === cross.issuer;
  return current || before ? { chain: [first.as, ...rest.map(({ as }) => as)], current } : undefined;
}

/** The same CA, vouched for by another one. */
export function isCross(certificate: X509Certificate, further: X509Certificate): boolean {
  return (
    further.ca &&
    further.subject === certificate.subject &&
    further.issuer !== further.subject &&
    further.publicKey.equals(certificate.publicKey)
  );
}
