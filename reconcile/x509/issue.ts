import { createPrivateKey, generateKeyPair, type KeyObject, randomBytes, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import type { LeafPlan } from '../../manifests/render/certificate-names.ts';
import type { CertificateRequest } from '../clients/x509.ts';
import { keyIdsOf } from './der.ts';
import { behindLeaf, type Intermediate, isCalledOtherwise } from './intermediate.ts';
import { writePem } from './pem.ts';

/** Makes CAs and leaves. Reads no clock and writes nothing: times come in, PEM goes out. */

/** A CA with its key, all PEM. */
export interface Authority {
  /** Self-signed. */
  readonly certificate: string;
  /** PKCS#8. */
  readonly key: string;
  /** The same name and key, signed by the CA before it: parties that trust only that one can still verify. */
  readonly cross?: string;
  /** The same, signed by an issuer: clients that trust only that one can still verify. */
  readonly intermediate?: Intermediate<string>;
}

/** A leaf with its key, all PEM. */
export interface IssuedLeaf {
  /** The leaf, then what leads to others that vouch for its CA, as far as that is still valid. */
  readonly certificate: string;
  /** PKCS#8. */
  readonly key: string;
}

export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** Something cannot be issued as asked. The message never holds key material. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

/** ub-common-name of RFC 5280, which Go ignores and OpenSSL's tools refuse to exceed. */
const maxCommonName = 64;
const newKeys = () => promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });

/**
 * A new CA: ECDSA P-256, to sign leaves and the next CA's cross certificate. Its name gets a few random digits: two
 * generations must never share one, or verifiers try the wrong CA. With `previous` a cross certificate comes along,
 * which ends no later than that; none if it has expired. @throws {CertificateError} when the validity is empty, or
 * `previous` cannot sign
 */
export async function createAuthority({
  commonName,
  previous,
  ...asked
}: Validity & { readonly commonName: string; readonly previous?: Authority }): Promise<Authority> {
  const validity = wholeSeconds(asked, commonName);
  const suffix = ` ${randomBytes(4).toString('hex')}`;
  const name = commonName.slice(0, maxCommonName - suffix.length).trimEnd() + suffix;
  const keys = await newKeys();
  const common = { commonName: name, publicKey: keys.publicKey };
  const certificate = await sign({
    ...common,
    ...validity,
    signingKey: keys.privateKey,
    // One CA may stand between it and a leaf: the next generation, by its cross certificate.
    profile: { kind: 'authority', pathLength: 1 },
  });
  const key = exportKey(keys.privateKey);
  if (previous === undefined) return { certificate, key };

  const signer = await signerOf(previous);
  const window = within(validity, signer.facts);
  if (window === undefined) return { certificate, key };
  const cross = await sign({
    ...common,
    ...window,
    ...issuedBy(signer, previous),
    profile: { kind: 'authority', pathLength: 0 },
  });
  return { certificate, key, cross };
}

/**
 * A leaf as planned, with a fresh key. It ends no later than the CA. A name over 64 characters is refused and not
 * shortened: etcd's authentication takes it for the user's. @throws {CertificateError} when the name is too long, the
 * validity empty or past the CA's, or the CA cannot sign
 */
export async function issueLeaf(plan: LeafPlan, authority: Authority, asked: Validity): Promise<IssuedLeaf> {
  const { commonName, dnsNames, ipAddresses, usages, secretName } = plan;
  if (commonName !== undefined && (commonName === '' || commonName.length > maxCommonName)) {
    throw new CertificateError(
      `the certificate of Secret ${secretName} needs a common name of 1 to ${maxCommonName} characters (X.509), but "${commonName}" has ${commonName.length}: choose a shorter name for the cluster`,
    );
  }
  const signer = await signerOf(authority);
  const validity = wholeSeconds(asked, `Secret ${secretName}`);
  const notAfter = earlier(validity.notAfter, signer.facts.validToDate);
  if (notAfter <= validity.notBefore) {
    throw new CertificateError(
      `the CA for Secret ${secretName} ended at ${signer.facts.validToDate.toISOString()}: rotate it first`,
    );
  }
  const keys = await newKeys();
  const certificate = await sign({
    ...(commonName !== undefined && { commonName }),
    notBefore: validity.notBefore,
    notAfter,
    publicKey: keys.publicKey,
    // Only these are shown to clients of others.
    ...issuedBy(signer, plan.purpose === 'server' ? authority : {}),
    profile: { kind: 'leaf', dnsNames, ipAddresses, usages },
  });
  return {
    certificate: certificate + chainBehind(plan, authority, validity.notBefore),
    key: exportKey(keys.privateKey),
  };
}

/** PEM: what follows a leaf of this CA, of what is valid at that time. */
export function chainBehind({ purpose }: Pick<LeafPlan, 'purpose'>, authority: Authority, at: Date): string {
  const lasts = (pem: string | undefined) => pem !== undefined && new X509Certificate(pem).validToDate > at;
  const { cross, intermediate } = authority;
  return behindLeaf(purpose, {
    ...(cross !== undefined && lasts(cross) && { cross }),
    ...(intermediate && lasts(intermediate.chain[0]) && { intermediate }),
  }).join('');
}

/** PEM: a request to another CA, that it signs this one. @throws {CertificateError} when the CA cannot sign */
export async function requestFor(authority: Authority): Promise<string> {
  const { facts, key } = await signerOf(authority);
  const { requestForAuthority } = await import('../clients/x509.ts');
  return writePem('CERTIFICATE REQUEST', requestForAuthority({ certificate: facts, key }));
}

/** The library is loaded here, by the first certificate that is really signed. */
async function sign(request: Omit<CertificateRequest, 'serialNumber'>): Promise<string> {
  const { signCertificate } = await import('../clients/x509.ts');
  return writePem('CERTIFICATE', signCertificate({ ...request, serialNumber: newSerialNumber() }));
}

/** 16 bytes, positive, and never shorter for a leading zero. */
function newSerialNumber(): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(randomBytes(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

function exportKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

interface Signer {
  readonly facts: X509Certificate;
  readonly key: KeyObject;
  readonly cross?: X509Certificate;
}

async function signerOf(authority: Authority): Promise<Signer> {
  const { facts, keyObject, ...rest } = readAuthority(authority);
  if (!facts.ca) throw new CertificateError('the certificate to sign with is not that of a CA');
  if (keyObject.asymmetricKeyType !== 'ec' || keyObject.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw new CertificateError('the key of the CA is not an ECDSA key on P-256');
  }
  // What a mix of two CAs signs cannot be verified.
  if (![facts, rest.cross].every((certificate) => certificate?.checkPrivateKey(keyObject) ?? true)) {
    throw new CertificateError('the key of the CA is not that of its certificate and of its cross certificate');
  }
  return { facts, ...rest, key: keyObject };
}

function issuedBy({ facts, key }: Signer, { intermediate }: Pick<Authority, 'intermediate'>) {
  const [elsewhere] = intermediate?.chain ?? [];
  const signed = elsewhere && keyIdsOf(new X509Certificate(elsewhere).raw);
  const namesNoKey = isCalledOtherwise({
    ...keyIdsOf(facts.raw),
    ...(intermediate && signed && { intermediate: { ...intermediate, chain: [signed] } }),
  });
  return { issuer: facts, signingKey: key, namesNoKey };
}

function readAuthority({ certificate, key, cross }: Authority) {
  try {
    return {
      facts: new X509Certificate(certificate),
      keyObject: createPrivateKey(key),
      ...(cross === undefined ? {} : { cross: new X509Certificate(cross) }),
    };
  } catch {
    // Without the cause: nothing about a private key goes into an error.
    throw new CertificateError('the certificate, the key or the cross certificate of the CA cannot be read');
  }
}

function wholeSeconds({ notBefore, notAfter }: Validity, what: string): Validity {
  const validity = { notBefore: atSecond(notBefore), notAfter: atSecond(notAfter) };
  // Written so that an invalid Date is refused as well.
  if (validity.notAfter > validity.notBefore) return validity;
  throw new CertificateError(`the certificate of ${what} would end before it begins`);
}

/** What both have in common, `undefined` if nothing. */
function within({ notBefore, notAfter }: Validity, facts: X509Certificate): Validity | undefined {
  const start = notBefore > facts.validFromDate ? notBefore : facts.validFromDate;
  const end = earlier(notAfter, facts.validToDate);
  return end > start ? { notBefore: start, notAfter: end } : undefined;
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}

function atSecond(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 1000) * 1000);
}
