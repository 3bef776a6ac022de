import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { CertificateFacts } from './facts.ts';
import { type Intermediate, intermediateIn, intermediateKey, lengthFlaw } from './intermediate.ts';
import { type Authority, CertificateError, type IssuedLeaf } from './issue.ts';
import { decodeBase64, readPem, writePem } from './pem.ts';

/** A Secret's `.data` as we write it: the usual three keys, base64. The only place where a private key is copied. */
export interface CertificateData extends Readonly<Record<string, string>> {
  readonly 'tls.crt': string;
  readonly 'tls.key': string;
  readonly 'ca.crt': string;
}

/** A leaf's Secret. The trust is everything that its holder must accept, newest first. */
export function leafData({ certificate, key }: IssuedLeaf, trust: readonly string[]): CertificateData {
  return { 'tls.crt': encode(certificate), 'tls.key': encode(key), 'ca.crt': encode(trust.join('')) };
}

/** A CA's Secret: `tls.crt` is the CA, then its cross certificate if it has one. */
export function authorityData({ certificate, cross, key }: Authority, trust: readonly string[]): CertificateData {
  return { 'tls.crt': encode(certificate + (cross ?? '')), 'tls.key': encode(key), 'ca.crt': encode(trust.join('')) };
}

/**
 * The CA in a Secret of {@link authorityData}, for signing. Call `inspectAuthority` first. @throws {CertificateError}
 * naming the Secret's key, never quoting it
 */
export function authorityOf(data: Readonly<Record<string, string>>): Authority {
  const [certificate, cross] = pemsOf(data, 'tls.crt', 'CERTIFICATE');
  if (certificate === undefined) throw new CertificateError('tls.crt holds no certificate');
  const intermediate = storedBeside(data, [certificate, cross]);
  return {
    certificate,
    key: keyIn(data),
    ...(cross === undefined ? {} : { cross }),
    ...(intermediate && { intermediate }),
  };
}

/** Nothing rests on it: what cannot be read, or is too long, is left out, and asked for anew. */
function storedBeside(
  data: Readonly<Record<string, string>>,
  [certificate, cross]: readonly [string, string | undefined],
): Intermediate<string> | undefined {
  const { [intermediateKey]: encoded } = data;
  if (encoded === undefined) return undefined;
  try {
    const stored = pemsOf(data, intermediateKey, 'CERTIFICATE');
    if (lengthFlaw(encoded, stored.length) !== undefined) return undefined;
    const parsed = stored.map((pem) => ({ certificate: new X509Certificate(pem), as: pem }));
    const before = cross === undefined ? undefined : new X509Certificate(cross);
    return intermediateIn([new X509Certificate(certificate), before], parsed);
  } catch {
    return undefined;
  }
}

/** In PKCS#8, also where the key is stored in another form (`EC PRIVATE KEY`). */
function keyIn(data: Readonly<Record<string, string>>): string {
  try {
    const text = decodeBase64(data['tls.key'] ?? '')?.toString() ?? '';
    return createPrivateKey(text).export({ type: 'pkcs8', format: 'pem' }).toString();
  } catch {
    // Without the cause, which might quote what it complains about.
    throw new CertificateError('tls.key holds no private key that can be read');
  }
}

/** The certificates of a Secret's `ca.crt`, one PEM each, in order. @throws {CertificateError} if it is unreadable */
export function trustOf(data: Readonly<Record<string, string>>): readonly string[] {
  return pemsOf(data, 'ca.crt', 'CERTIFICATE');
}

/** Those of `tls.crt`, one PEM each, in order. @throws {CertificateError} if it is unreadable */
export function certificatesIn(data: Readonly<Record<string, string>>): readonly string[] {
  return pemsOf(data, 'tls.crt', 'CERTIFICATE');
}

/** A certificate that was read, written as it stood there. */
export function pemOf({ der }: CertificateFacts): string {
  return writePem('CERTIFICATE', Buffer.from(der, 'base64'));
}

function pemsOf(data: Readonly<Record<string, string>>, key: string, label: string): readonly string[] {
  const text = decodeBase64(data[key] ?? '');
  if (text === undefined) throw new CertificateError(`${key} is not base64`);
  const reading = readPem(text.toString());
  if (reading.kind === 'problem') throw new CertificateError(`${key} ${reading.problem}`);
  return reading.blocks.filter((block) => block.label === label).map(({ der }) => writePem(label, der));
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}
