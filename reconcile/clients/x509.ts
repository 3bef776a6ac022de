/**
 * Certificates as this project signs them. A file of its own, with static imports, because it is loaded lazily as a
 * whole: the library costs more than a tick in which nothing is issued.
 */

// First: @peculiar/x509 finds its parts by decorators, which need this at load time.
import 'reflect-metadata';
import type { webcrypto } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  ExtendedKeyUsage as ExtendedKeyUsages,
  type Extension,
  type JsonGeneralName,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

/** What a certificate is for. */
type Profile =
  | { readonly kind: 'authority'; readonly pathLength: number }
  | {
      readonly kind: 'leaf';
      readonly dnsNames: readonly string[];
      readonly ipAddresses: readonly string[];
      readonly usages: readonly ('serverAuth' | 'clientAuth')[];
    };

export interface CertificateRequest {
  readonly commonName: string;
  /** Hex digits of a positive integer. */
  readonly serialNumber: string;
  /** Whole seconds: X.509 has no fractions, and Go refuses a certificate that has them. */
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly publicKey: webcrypto.CryptoKey;
  /** Signs; ECDSA, with SHA-256. */
  readonly signingKey: webcrypto.CryptoKey;
  /** The signer's certificate in PEM; without it, the certificate is self-signed. */
  readonly issuer?: string;
  readonly profile: Profile;
}

/**
 * Signs one certificate.
 *
 * @returns DER
 * @throws {Error} when the issuer's PEM or an address cannot be read
 */
export async function signCertificate(request: CertificateRequest): Promise<Uint8Array> {
  // By attribute, not as a string of RFC 4514: nothing in a name is syntax here.
  const subject = new Name([{ CN: [{ utf8String: request.commonName }] }]);
  const issuer = request.issuer === undefined ? undefined : new X509Certificate(request.issuer);
  const subjectKey = await SubjectKeyIdentifierExtension.create(request.publicKey);
  const certificate = await X509CertificateGenerator.create({
    subject,
    issuer: issuer === undefined ? subject : issuer.subjectName,
    serialNumber: request.serialNumber,
    notBefore: request.notBefore,
    notAfter: request.notAfter,
    publicKey: request.publicKey,
    signingKey: request.signingKey,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [
      ...extensionsOf(request.profile),
      subjectKey,
      new AuthorityKeyIdentifierExtension(issuer === undefined ? subjectKey.keyId : await keyIdOf(issuer)),
    ],
  });
  return new Uint8Array(certificate.rawData);
}

/** As the issuer says it itself: others may derive it in another way than we do. */
async function keyIdOf(issuer: X509Certificate): Promise<string> {
  const own = issuer.getExtension(SubjectKeyIdentifierExtension) ?? undefined;
  return (own ?? (await SubjectKeyIdentifierExtension.create(issuer.publicKey))).keyId;
}

function extensionsOf(profile: Profile): readonly Extension[] {
  switch (profile.kind) {
    case 'authority':
      return [
        new BasicConstraintsExtension(true, profile.pathLength, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      ];
    case 'leaf':
      return [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension(profile.usages.map((usage) => ExtendedKeyUsages[usage])),
        ...alternativeNames([
          ...profile.dnsNames.map((value) => ({ type: 'dns', value }) as const),
          ...profile.ipAddresses.map((value) => ({ type: 'ip', value }) as const),
        ]),
      ];
  }
}

/** An empty list of names is no valid extension. */
function alternativeNames(names: readonly JsonGeneralName[]): readonly Extension[] {
  return names.length === 0 ? [] : [new SubjectAlternativeNameExtension([...names])];
}
