/** Signs certificates. Loaded lazily as a whole: the library costs more than a tick that issues nothing. */

import { createHash, type KeyObject, sign, type X509Certificate } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { Attributes, CertificationRequest, CertificationRequestInfo } from '@peculiar/asn1-csr';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  Attribute,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_clientAuth,
  id_kp_serverAuth,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';
import { unbracketed, urlOf } from '../../manifests/render/hosts.ts';

/** What a certificate is for. */
type Profile =
  | { readonly kind: 'authority'; readonly pathLength?: number }
  | {
      readonly kind: 'leaf';
      readonly dnsNames: readonly string[];
      readonly ipAddresses: readonly string[];
      readonly usages: readonly (keyof typeof purposes)[];
    };

export interface CertificateRequest {
  /** Absent: the subject is empty. */
  readonly commonName?: string;
  /** Of a positive integer, big-endian. */
  readonly serialNumber: Uint8Array<ArrayBuffer>;
  /** Whole seconds: X.509 has no fractions, and Go refuses a certificate that has them. */
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly publicKey: KeyObject;
  /** Signs; ECDSA, with SHA-256. */
  readonly signingKey: KeyObject;
  /** The signer's certificate; without it, the certificate is self-signed. */
  readonly issuer?: X509Certificate;
  /** Does not say by which key it is signed. */
  readonly namesNoKey?: boolean;
  readonly profile: Profile;
}

const purposes = { serverAuth: id_kp_serverAuth, clientAuth: id_kp_clientAuth } as const;
const commonNameType = '2.5.4.3';
const ecdsaWithSha256 = '1.2.840.10045.4.3.2';
/** PKCS#9: the extensions that a certificate is to have. */
const extensionRequest = '1.2.840.113549.1.9.14';

/** Signs one certificate (RFC 5280), in DER. @throws {Error} when an address cannot be read */
export function signCertificate(request: CertificateRequest): Uint8Array {
  const { commonName, serialNumber, notBefore, notAfter, publicKey, signingKey, issuer, namesNoKey, profile } = request;
  const subject = commonName === undefined ? new Name() : nameOf(commonName);
  const subjectPublicKeyInfo = AsnConvert.parse(
    publicKey.export({ type: 'spki', format: 'der' }),
    SubjectPublicKeyInfo,
  );
  const keyId = keyIdOf(subjectPublicKeyInfo);
  const signer = issuer === undefined ? { name: subject, keyId } : signerOf(issuer);
  const signatureAlgorithm = new AlgorithmIdentifier({ algorithm: ecdsaWithSha256 });
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: serialNumber.buffer,
    signature: signatureAlgorithm,
    issuer: signer.name,
    subject,
    validity: new Validity({ notBefore, notAfter }),
    subjectPublicKeyInfo,
    extensions: new Extensions([
      ...extensionsOf(profile, commonName !== undefined),
      extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(keyId)),
      ...(namesNoKey ? [] : [authorityKey(signer.keyId)]),
    ]),
  });
  const signed = Buffer.from(AsnConvert.serialize(tbsCertificate));
  const signatureValue = new Uint8Array(sign('sha256', signed, signingKey)).buffer;
  return new Uint8Array(AsnConvert.serialize(new Certificate({ tbsCertificate, signatureAlgorithm, signatureValue })));
}

/** A request (PKCS#10), in DER, that another CA signs this one: the same name and key, and again a CA. */
export function requestForAuthority({
  certificate,
  key,
}: {
  certificate: X509Certificate;
  key: KeyObject;
}): Uint8Array {
  const { subject, subjectPublicKeyInfo } = AsnConvert.parse(certificate.raw, Certificate).tbsCertificate;
  const extensions = new Extensions([...extensionsOf({ kind: 'authority' }, true)]);
  const asked = new Attribute({ type: extensionRequest, values: [AsnConvert.serialize(extensions)] });
  const certificationRequestInfo = new CertificationRequestInfo({
    subject,
    subjectPKInfo: subjectPublicKeyInfo,
    attributes: new Attributes([asked]),
  });
  const signed = Buffer.from(AsnConvert.serialize(certificationRequestInfo));
  const signatureAlgorithm = new AlgorithmIdentifier({ algorithm: ecdsaWithSha256 });
  const signature = new Uint8Array(sign('sha256', signed, key)).buffer;
  return new Uint8Array(
    AsnConvert.serialize(new CertificationRequest({ certificationRequestInfo, signatureAlgorithm, signature })),
  );
}

/** By attribute, not as a string of RFC 4514: nothing in a name is syntax here. */
function nameOf(commonName: string): Name {
  const value = new AttributeValue({ utf8String: commonName });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: commonNameType, value })])]);
}

/** RFC 7093, section 2, method 1: as Go does since 1.25, and with it cert-manager, so that both call a key the same. */
function keyIdOf({ subjectPublicKey }: SubjectPublicKeyInfo): ArrayBuffer {
  return new Uint8Array(createHash('sha256').update(Buffer.from(subjectPublicKey)).digest().subarray(0, 20)).buffer;
}

function authorityKey(keyId: ArrayBuffer): Extension {
  const named = new AuthorityKeyIdentifier({ keyIdentifier: new KeyIdentifier(keyId) });
  return extension(id_ce_authorityKeyIdentifier, named);
}

/** The key's identifier as the issuer says it itself: others may derive it in another way than we do. */
function signerOf(issuer: X509Certificate): { readonly name: Name; readonly keyId: ArrayBuffer } {
  const { subject, extensions, subjectPublicKeyInfo } = AsnConvert.parse(issuer.raw, Certificate).tbsCertificate;
  const own = extensions?.find(({ extnID }) => extnID === id_ce_subjectKeyIdentifier);
  const keyId = own ? AsnConvert.parse(own.extnValue, SubjectKeyIdentifier).buffer : keyIdOf(subjectPublicKeyInfo);
  return { name: subject, keyId };
}

function extensionsOf(profile: Profile, hasSubject: boolean): readonly Extension[] {
  const critical = true;
  switch (profile.kind) {
    case 'authority': {
      const { pathLength } = profile;
      const limit = pathLength !== undefined && { pathLenConstraint: pathLength };
      const usage = new KeyUsage(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign);
      return [
        extension(id_ce_basicConstraints, new BasicConstraints({ cA: true, ...limit }), critical),
        extension(id_ce_keyUsage, usage, critical),
      ];
    }
    case 'leaf': {
      const usages = profile.usages.map((usage) => purposes[usage]);
      const names = [
        ...profile.dnsNames.map((dNSName) => new GeneralName({ dNSName })),
        ...profile.ipAddresses.map((address) => new GeneralName({ iPAddress: withoutDots(address) })),
      ];
      return [
        extension(id_ce_basicConstraints, new BasicConstraints({ cA: false }), critical),
        extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature), critical),
        extension(id_ce_extKeyUsage, new ExtendedKeyUsage(usages)),
        // An empty list of names is no valid extension. Where the subject is empty, it is critical (RFC 5280, 4.2.1.6).
        ...(names.length === 0
          ? []
          : [extension(id_ce_subjectAltName, new SubjectAlternativeName(names), !hasSubject)]),
      ];
    }
  }
}

/** The library takes the dotted end of an IPv6 address for one of its hexadecimal groups. @throws {TypeError} */
function withoutDots(address: string): string {
  return isIPv6(address) ? unbracketed(new URL(urlOf('http', address, 80)).hostname) : address;
}

function extension(extnID: string, value: unknown, critical = false): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}
