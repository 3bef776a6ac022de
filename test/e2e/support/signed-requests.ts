import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  verify,
  X509Certificate,
} from 'node:crypto';
import { CertificationRequest } from '@peculiar/asn1-csr';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import { Certificate, id_ce_subjectKeyIdentifier, SubjectKeyIdentifier } from '@peculiar/asn1-x509';
import type { CertificateRequest } from '../../../manifests/render/cert-manager-request.ts';
import { signCertificate } from '../../../reconcile/clients/x509.ts';
import type { Authority } from '../../../reconcile/x509/issue.ts';
import { writePem } from '../../../reconcile/x509/pem.ts';

/** What cert-manager's CA issuer makes of a CertificateRequest, as a status. */

/** `leaf`: as issuers do that sign no CAs, and say nothing of it. */
export type Answer = 'sign' | 'leaf' | 'deny' | 'fail';

/** What it calls the key: as Go does since 1.25, and as we do, or by SHA-1, as most others. */
export type Naming = 'sha256' | 'sha1';

interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

export function answered(
  request: CertificateRequest,
  signer: Authority,
  { how, validity }: { readonly how: Answer; readonly validity: Validity },
): CertificateRequest {
  const said = (type: string, status: 'True' | 'False', reason: string, message: string) => ({
    ...request,
    status: { conditions: [{ type, status, reason, message }] },
  });
  if (how === 'deny') return said('Denied', 'True', 'Policy', 'no policy approved this request');
  if (how === 'fail') return said('Ready', 'False', 'Failed', 'the role does not allow CAs');
  const { commonName, publicKey } = readRequest(Buffer.from(request.spec.request, 'base64').toString());
  const der = signCertificate({
    commonName,
    serialNumber: newSerialNumber(),
    ...validity,
    publicKey,
    issuer: new X509Certificate(signer.certificate),
    signingKey: createPrivateKey(signer.key),
    profile:
      how === 'leaf' ? { kind: 'leaf', dnsNames: [], ipAddresses: [], usages: ['serverAuth'] } : { kind: 'authority' },
  });
  const certificate = how === 'leaf' ? der : calledOtherwise(der, signer);
  const encoded = (pem: string) => Buffer.from(pem).toString('base64');
  const issued = said('Ready', 'True', 'Issued', 'Certificate fetched from issuer successfully');
  return {
    ...issued,
    status: {
      ...issued.status,
      certificate: encoded(writePem('CERTIFICATE', certificate)),
      ca: encoded(signer.certificate),
    },
  };
}

/** PEM, base64: this CA as that one signs it. */
export function intermediateOf(
  { certificate }: Authority,
  signer: Authority,
  validity: Validity,
  naming: Naming = 'sha1',
): string {
  const { publicKey, subject } = new X509Certificate(certificate);
  const der = signCertificate({
    commonName: subject.replace(/^CN=/, ''),
    serialNumber: newSerialNumber(),
    ...validity,
    publicKey,
    issuer: new X509Certificate(signer.certificate),
    signingKey: createPrivateKey(signer.key),
    profile: { kind: 'authority' },
  });
  const named = naming === 'sha1' ? calledOtherwise(der, signer) : der;
  return Buffer.from(writePem('CERTIFICATE', named)).toString('base64');
}

/** The same certificate with its key called by SHA-1: an issuer does not ask what we call it. */
function calledOtherwise(der: Uint8Array, { key }: Authority): Uint8Array {
  const made = AsnConvert.parse(der, Certificate);
  const { extensions = [], subjectPublicKeyInfo } = made.tbsCertificate;
  const called = createHash('sha1').update(Buffer.from(subjectPublicKeyInfo.subjectPublicKey)).digest();
  const value = AsnConvert.serialize(new SubjectKeyIdentifier(new Uint8Array(called).buffer));
  for (const one of extensions) if (one.extnID === id_ce_subjectKeyIdentifier) one.extnValue = new OctetString(value);
  const signed = AsnConvert.serialize(made.tbsCertificate);
  made.tbsCertificateRaw = signed;
  made.signatureValue = new Uint8Array(sign('sha256', Buffer.from(signed), createPrivateKey(key))).buffer;
  return new Uint8Array(AsnConvert.serialize(made));
}

function newSerialNumber() {
  return new Uint8Array([0x40, ...randomBytes(15)]);
}

/** As cert-manager makes a root: it lets as many CAs be below it as there may be. */
export function rootAuthority(name: string, validity: Validity): Authority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const commonName = `${name} ${randomBytes(4).toString('hex')}`;
  const of = {
    commonName,
    serialNumber: newSerialNumber(),
    publicKey,
    signingKey: privateKey,
    profile: { kind: 'authority' },
  } as const;
  const certificate = writePem('CERTIFICATE', signCertificate({ ...of, ...validity }));
  return { certificate, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

/** What a PKCS#10 says. @throws {Error} where its own key did not sign it */
function readRequest(pem: string) {
  const der = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  const { certificationRequestInfo: info, signature } = AsnConvert.parse(der, CertificationRequest);
  const spki = Buffer.from(AsnConvert.serialize(info.subjectPKInfo));
  const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  const signed = Buffer.from(AsnConvert.serialize(info));
  if (!verify('sha256', signed, publicKey, Buffer.from(signature))) throw new Error('its own key did not sign it');
  const commonName = info.subject[0]?.[0]?.value.utf8String ?? '';
  return { commonName, publicKey };
}
