import { createHash, type X509Certificate } from 'node:crypto';
import { lastAnswers } from '../../manifests/last-answers.ts';
import { type CertificateFacts, factsOf } from './facts.ts';
import { type Intermediate, intermediateIn, intermediateKey, isCross, lengthFlaw } from './intermediate.ts';
import { type Read, readCertificates, readPrivateKey } from './read-entry.ts';

/** What the certificates in a Secret say. No private key, nor any part of one, comes out of here. */

export type SecretKey = 'tls.crt' | 'tls.key' | 'ca.crt';

/** A Secret's `.data`, each value base64. */
export type SecretData = Readonly<Record<string, string>>;

/** Nothing can be said of the certificate: a key is not there (or empty, as in a Secret made ahead), or unreadable. */
export type Unreadable =
  | { readonly kind: 'missing-keys'; readonly keys: readonly SecretKey[] }
  | { readonly kind: 'unreadable'; readonly key: SecretKey; readonly problem: string };

export type LeafInspection =
  | Unreadable
  | {
      readonly kind: 'readable';
      readonly leaf: LeafFacts;
      /** All its certificates by fingerprint, for callers that verify them at once. */
      readonly parsed: ReadonlyMap<string, X509Certificate>;
    };
export type AuthorityInspection = Unreadable | { readonly kind: 'readable'; readonly authority: AuthorityFacts };

interface Trusting {
  /** Fingerprints of all certificates in `ca.crt`: sorted, each once. Equal lists are equal trust. */
  readonly trust: readonly string[];
  /** The certificates in `ca.crt`, in their order. */
  readonly authorities: readonly CertificateFacts[];
  /** Whether `tls.key` is the key of the first certificate in `tls.crt`. */
  readonly keyMatches: boolean;
}

export interface LeafFacts extends CertificateFacts, Trusting {
  /** What follows the leaf in `tls.crt`, in its order. */
  readonly intermediates: readonly CertificateFacts[];
  /** Certificates in `tls.crt`, the leaf among them. */
  readonly chainLength: number;
}

export interface AuthorityFacts extends CertificateFacts, Trusting {
  /** Whether a cross certificate of the same name and key follows in `tls.crt`. */
  readonly crossed: boolean;
  readonly cross?: CertificateFacts;
  readonly intermediate?: Intermediate<CertificateFacts>;
}

const keys = ['tls.crt', 'tls.key', 'ca.crt'] as const satisfies readonly SecretKey[];

/** Reads a leaf's Secret. Never throws. */
export function inspectLeaf(data: SecretData): LeafInspection {
  const read = readAll(data);
  if (read.kind !== 'parts') return read;
  const [leaf, ...intermediates] = read.chainFacts;
  return {
    kind: 'readable',
    leaf: { ...leaf, ...trustingOf(read), intermediates, chainLength: read.chainFacts.length },
    parsed: read.parsed,
  };
}

/** Reads a CA's Secret: `tls.crt` is the CA, then its cross certificate if it has one. Never throws. */
export function inspectAuthority(data: SecretData): AuthorityInspection {
  const read = readAll(data);
  if (read.kind !== 'parts') return read;
  const [authority, cross] = read.chainFacts;
  const [certificate, further] = read.chain;
  const crossed = further !== undefined && isCross(certificate, further);
  const intermediate = intermediateIn([certificate, crossed ? further : undefined], storedIn(data));
  return {
    kind: 'readable',
    authority: {
      ...authority,
      ...trustingOf(read),
      crossed,
      ...(crossed && cross !== undefined ? { cross } : {}),
      ...(intermediate && { intermediate }),
    },
  };
}

/** Nothing rests on it: what cannot be read, or is too long, is asked for anew. */
function storedIn({ [intermediateKey]: encoded }: SecretData) {
  const found = encoded === undefined ? undefined : readChain(encoded);
  if (encoded === undefined || !found || 'problem' in found) return [];
  const { certificates, facts } = found.value;
  if (lengthFlaw(encoded, certificates.length) !== undefined) return [];
  return certificates.flatMap((certificate, index) => {
    const as = facts[index];
    return as ? [{ certificate, as }] : [];
  });
}

type AtLeastOne<T> = readonly [T, ...T[]];

interface Parts {
  readonly kind: 'parts';
  readonly chain: AtLeastOne<X509Certificate>;
  readonly chainFacts: AtLeastOne<CertificateFacts>;
  readonly keyMatches: boolean;
  readonly authorities: readonly CertificateFacts[];
  readonly parsed: ReadonlyMap<string, X509Certificate>;
}

function readAll(data: SecretData): Parts | Unreadable {
  const missing = keys.filter((key) => !Object.hasOwn(data, key) || data[key] === '');
  if (missing.length > 0) return { kind: 'missing-keys', keys: missing };
  const chain = readChain(data['tls.crt']);
  if ('problem' in chain) return { kind: 'unreadable', key: 'tls.crt', problem: chain.problem };
  const key = matching(chain.value, data['tls.key']);
  if ('problem' in key) return { kind: 'unreadable', key: 'tls.key', problem: key.problem };
  const trust = readChain(data['ca.crt']);
  if ('problem' in trust) return { kind: 'unreadable', key: 'ca.crt', problem: trust.problem };
  return {
    kind: 'parts',
    chain: chain.value.certificates,
    chainFacts: chain.value.facts,
    keyMatches: key.value,
    authorities: trust.value.facts,
    parsed: new Map([...parsedIn(chain.value), ...parsedIn(trust.value)]),
  };
}

function parsedIn({ certificates, facts }: Chain): readonly (readonly [string, X509Certificate])[] {
  return certificates.flatMap((certificate, index) => {
    const { fingerprint } = facts[index] ?? {};
    return fingerprint === undefined ? [] : [[fingerprint, certificate] as const];
  });
}

interface Chain {
  readonly certificates: AtLeastOne<X509Certificate>;
  readonly facts: AtLeastOne<CertificateFacts>;
}

// To read a key or a chain takes a tenth of a millisecond and more. A copy has the key of its original.
const matches = lastAnswers<Read<boolean>>(64);

/** Whether that is the key of the first of them. Of the key itself only its hash is remembered. */
function matching({ certificates: [certificate], facts: [{ fingerprint }] }: Chain, encoded: unknown): Read<boolean> {
  const ask = () => {
    const key = readPrivateKey(encoded);
    return 'problem' in key ? key : { value: certificate.checkPrivateKey(key.value) };
  };
  if (typeof encoded !== 'string') return ask();
  return matches(`${fingerprint} ${hashOf(encoded)}`, ask);
}

/** A private key may have been put where certificates belong. */
function hashOf(encoded: string): string {
  return createHash('sha256').update(encoded).digest('base64');
}

/**
 * Base64 of a leaf and its intermediates, or of the CAs of an issuer, which all leaves of a cluster name. Longer ones
 * are read each time.
 */
const usualLength = 16 * 1024;
const chains = lastAnswers<Read<Chain>>(32);

/** All certificates under one key of a Secret. What an issuer answers is read like this, too: it goes behind leaves. */
export function readChain(encoded: unknown): Read<Chain> {
  const isUsual = typeof encoded === 'string' && encoded.length <= usualLength;
  return isUsual ? chains(hashOf(encoded), () => chainIn(encoded)) : chainIn(encoded);
}

function chainIn(encoded: unknown): Read<Chain> {
  const read = readCertificates(encoded);
  if ('problem' in read) return read;
  const [first, ...rest] = read.value;
  if (first === undefined) return { problem: 'holds no certificate' };
  try {
    const facts: AtLeastOne<CertificateFacts> = [factsOf(first), ...rest.map(factsOf)];
    return facts.every(hasDates)
      ? { value: { certificates: [first, ...rest], facts } }
      : { problem: 'holds a certificate whose dates cannot be read' };
  } catch {
    // Left out: OpenSSL's error about a key of an unknown kind does not help.
    return { problem: 'holds a certificate whose public key cannot be read' };
  }
}

function hasDates({ notBefore, notAfter }: CertificateFacts): boolean {
  return Number.isFinite(notBefore.getTime()) && Number.isFinite(notAfter.getTime());
}

function trustingOf({ keyMatches, authorities }: Parts): Trusting {
  const trust = [...new Set(authorities.map(({ fingerprint }) => fingerprint))].sort();
  return { trust, authorities, keyMatches };
}
