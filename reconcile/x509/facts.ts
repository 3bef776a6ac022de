import type { X509Certificate } from 'node:crypto';
import { SocketAddress } from 'node:net';
import type { Usage } from '../../manifests/render/certificate-names.ts';
import { plainSerial } from '../../manifests/render/revocations.ts';
import { commonNameOf, keyIdsOf, pathLengthOf } from './der.ts';

/** What one certificate says. Plain data, and all of it public. */
export interface CertificateFacts {
  /** One line, for people. */
  readonly subject: string;
  readonly issuer: string;
  /** As `plainSerial` spells it; absent of one that was never signed, as in a simulation. */
  readonly serial?: string;
  /** The last one, as Go and with it etcd's authentication reads it. */
  readonly commonName?: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** Lower-case. */
  readonly dnsNames: readonly string[];
  /** In the spelling of {@link canonicalAddress}. */
  readonly ipAddresses: readonly string[];
  /** What it may be used for; without an extended key usage, that is everything. */
  readonly usages: readonly Usage[];
  readonly isAuthority: boolean;
  /** How many CAs may follow below it; absent: any number. */
  readonly pathLength?: number;
  /** What it calls its key, and that of its issuer: hex. OpenSSL takes no issuer that calls its key otherwise. */
  readonly keyId?: string;
  readonly issuerKeyId?: string;
  readonly keyType: string;
  /** Of a key on an elliptic curve, as OpenSSL names it; absent when it is spelt out instead of named. */
  readonly curve?: string;
  /** Of the modulus, for RSA. */
  readonly bits?: number;
  /** As OpenSSL names it. */
  readonly signatureAlgorithm?: string;
  /** SHA-256 of the DER, lower-case hex. */
  readonly fingerprint: string;
  /** Base64. */
  readonly der: string;
}

const usageOf: Readonly<Record<string, readonly Usage[]>> = {
  '1.3.6.1.5.5.7.3.1': ['serverAuth'],
  '1.3.6.1.5.5.7.3.2': ['clientAuth'],
  // anyExtendedKeyUsage
  '2.5.29.37.0': ['serverAuth', 'clientAuth'],
};

/** @throws when OpenSSL cannot make out the certificate's public key */
export function factsOf(certificate: X509Certificate): CertificateFacts {
  const { publicKey, signatureAlgorithm } = certificate;
  const { namedCurve, modulusLength } = publicKey.asymmetricKeyDetails ?? {};
  const { raw } = certificate;
  const commonName = commonNameOf(raw);
  const pathLength = pathLengthOf(raw);
  return {
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    serial: plainSerial(certificate.serialNumber),
    ...(commonName === undefined ? {} : { commonName }),
    notBefore: certificate.validFromDate,
    notAfter: certificate.validToDate,
    ...alternativeNamesOf(certificate.subjectAltName),
    usages: usagesOf(certificate.keyUsage),
    isAuthority: certificate.ca,
    ...(pathLength === undefined ? {} : { pathLength }),
    ...keyIdsOf(raw),
    keyType: publicKey.asymmetricKeyType ?? 'unknown',
    ...(namedCurve === undefined ? {} : { curve: namedCurve }),
    ...(modulusLength === undefined ? {} : { bits: modulusLength }),
    ...(signatureAlgorithm === undefined ? {} : { signatureAlgorithm }),
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    der: raw.toString('base64'),
  };
}

/** One spelling for each IP address; what is none stays as it is. */
export function canonicalAddress(address: string): string {
  try {
    return new SocketAddress({ address, family: address.includes(':') ? 'ipv6' : 'ipv4' }).address;
  } catch {
    return address;
  }
}

/** Node gives undefined for a certificate without the extension, whatever its types say. */
function usagesOf(extended: readonly string[] | undefined): readonly Usage[] {
  if (extended === undefined) return ['serverAuth', 'clientAuth'];
  return [...new Set(extended.flatMap((oid) => usageOf[oid] ?? []))];
}

/** Node's own text, in which it quotes whatever could be taken for a separator: `DNS:a, DNS:"b, DNS:c"`. */
function alternativeNamesOf(text: string | undefined): Pick<CertificateFacts, 'dnsNames' | 'ipAddresses'> {
  const names = [...(text ?? '').matchAll(/(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^",]*)/g)].map(
    ([, type, value]) => ({ type, value: value ?? '' }),
  );
  const of = (wanted: string) => names.filter(({ type }) => type === wanted).map(({ value }) => value);
  return { dnsNames: of('DNS').map((name) => name.toLowerCase()), ipAddresses: of('IP Address').map(canonicalAddress) };
}

/** Foreign text on its way into messages: one line, printable, bounded. */
function oneLine(name: string | undefined): string {
  const line = (name ?? '').replaceAll('\n', ', ').replace(/\p{C}/gu, '?');
  if (line === '') return '(no name)';
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
