import type { CertificateFacts } from './facts.ts';

export interface KeyFlaw {
  readonly reason: 'WeakKey' | 'UnsupportedKey';
  /** A predicate: it follows the certificate. */
  readonly problem: string;
}

/** Curves that crypto/x509 of Go, and with it etcd, can use and that are strong enough. */
const curves: readonly string[] = ['prime256v1', 'secp384r1', 'secp521r1'];

/** The flaw of a certificate's public key. */
export function keyFlawOf({ keyType, curve, bits }: CertificateFacts): KeyFlaw | undefined {
  switch (keyType) {
    case 'rsa':
      return (bits ?? 0) >= 2048 ? undefined : weak(`an RSA key of ${bits ?? 'unknown'} bits`);
    case 'ec': {
      if (curve === undefined) return unsupported('a key on an unnamed elliptic curve');
      if (curves.includes(curve)) return undefined;
      const width = Number(/\d{3}/.exec(curve)?.[0] ?? Number.NaN);
      return width < 256 ? weak(`a key on the elliptic curve ${curve}`) : unsupported(`a key on ${curve}`);
    }
    case 'ed25519':
      return undefined;
    default:
      return unsupported(`a key of type ${keyType}`);
  }
}

function weak(what: string): KeyFlaw {
  return { reason: 'WeakKey', problem: `has ${what}, which is too weak` };
}

function unsupported(what: string): KeyFlaw {
  return { reason: 'UnsupportedKey', problem: `has ${what}, which etcd cannot use` };
}
