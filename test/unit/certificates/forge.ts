import 'reflect-metadata';
import type { webcrypto } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { LeafPlan } from '../../../manifests/render/certificate-names.ts';
import { memberLeaves } from '../../../manifests/render/certificate-names.ts';
import { inspectLeaf, type LeafFacts } from '../../../reconcile/x509/inspect.ts';
import { writePem } from '../../../reconcile/x509/pem.ts';

/** Certificates as other people make them, good and bad, for the tests. */

export const now = new Date('2030-06-01T12:00:00Z');

export function days(count: number): Date {
  return new Date(now.getTime() + count * 86_400_000);
}

export function minutes(count: number): Date {
  return new Date(now.getTime() + count * 60_000);
}

export const [peerPlan, serverPlan]: readonly [LeafPlan, LeafPlan] = memberLeaves(
  { namespace: 'payments', cluster: 'c' },
  'c-0',
);

const algorithms = {
  'P-256': { name: 'ECDSA', namedCurve: 'P-256' },
  'P-384': { name: 'ECDSA', namedCurve: 'P-384' },
  Ed25519: { name: 'Ed25519' },
  'RSA-1024': rsa(1024, 'SHA-256'),
  'RSA-2048': rsa(2048, 'SHA-256'),
  'RSA-2048-SHA1': rsa(2048, 'SHA-1'),
} as const;

function rsa(modulusLength: number, hash: string) {
  return { name: 'RSASSA-PKCS1-v1_5', modulusLength, publicExponent: new Uint8Array([1, 0, 1]), hash };
}

export interface Forged {
  readonly pem: string;
  readonly key: string;
  readonly name: string;
  readonly keys: webcrypto.CryptoKeyPair;
}

interface Wanted {
  readonly name: string;
  /** Self-signed without. */
  readonly by?: Forged;
  /** Instead of fresh ones. */
  readonly keys?: webcrypto.CryptoKeyPair;
  readonly algorithm?: keyof typeof algorithms;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  /** No extended key usage without. */
  readonly usages?: readonly ('serverAuth' | 'clientAuth' | 'codeSigning')[];
  /** Neither basic constraints nor key usage without. */
  readonly authority?: boolean;
  readonly pathLength?: number;
  readonly maySign?: boolean;
  /** Hex. */
  readonly subjectKeyId?: string;
  readonly authorityKeyId?: string;
}

const oids = {
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  codeSigning: '1.3.6.1.5.5.7.3.3',
} as const;

export async function forge(wanted: Wanted): Promise<Forged> {
  const { name, by, authority, notBefore = days(-10), notAfter = days(355) } = wanted;
  const algorithm = algorithms[wanted.algorithm ?? 'P-256'];
  const keys =
    wanted.keys ?? ((await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair);
  const names = [
    ...(wanted.dnsNames ?? []).map((value) => ({ type: 'dns', value }) as const),
    ...(wanted.ipAddresses ?? []).map((value) => ({ type: 'ip', value }) as const),
  ];
  const certificate = await X509CertificateGenerator.create({
    subject: [{ CN: [name] }],
    issuer: [{ CN: [by?.name ?? name] }],
    notBefore,
    notAfter,
    publicKey: keys.publicKey,
    signingKey: (by?.keys ?? keys).privateKey,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [
      ...(authority === undefined ? [] : [new BasicConstraintsExtension(authority, wanted.pathLength, true)]),
      ...(authority !== true
        ? []
        : [
            new KeyUsagesExtension(
              wanted.maySign === false ? KeyUsageFlags.digitalSignature : KeyUsageFlags.keyCertSign,
              true,
            ),
          ]),
      ...(wanted.usages === undefined
        ? []
        : [new ExtendedKeyUsageExtension(wanted.usages.map((usage) => oids[usage]))]),
      ...(wanted.subjectKeyId === undefined ? [] : [new SubjectKeyIdentifierExtension(wanted.subjectKeyId)]),
      ...(wanted.authorityKeyId === undefined ? [] : [new AuthorityKeyIdentifierExtension(wanted.authorityKeyId)]),
      ...(names.length === 0 ? [] : [new SubjectAlternativeNameExtension(names)]),
    ],
  });
  return {
    name,
    keys,
    pem: writePem('CERTIFICATE', new Uint8Array(certificate.rawData)),
    key: writePem('PRIVATE KEY', new Uint8Array(await crypto.subtle.exportKey('pkcs8', keys.privateKey))),
  };
}

export function root(name = 'root', more: Partial<Wanted> = {}): Promise<Forged> {
  return forge({ name, authority: true, notAfter: days(3650), ...more });
}

/** A good leaf for {@link peerPlan}, but for what is given. */
export function peerLeaf(by: Forged, more: Partial<Wanted> = {}): Promise<Forged> {
  const { dnsNames, usages } = peerPlan;
  return forge({ name: 'c-0', by, authority: false, dnsNames, usages, ...more });
}

/** A Secret's `.data`. */
export function secret(crt: string, key: string, ca: string): Readonly<Record<string, string>> {
  return { 'tls.crt': base64(crt), 'tls.key': base64(key), 'ca.crt': base64(ca) };
}

/** What somebody holds, and whom he trusts. */
export function only(held: Forged, trusted: Forged) {
  return secret(held.pem, held.key, trusted.pem);
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

export function leafFacts(data: Readonly<Record<string, string>>): LeafFacts {
  const found = inspectLeaf(data);
  if (found.kind !== 'readable') throw new Error(`the Secret of the test is ${JSON.stringify(found)}`);
  return found.leaf;
}
