import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Hmac, Receiver } from './receiver.ts';

/** How a caller shows that it knows a secret: in constant time, for every secret, in any order. */

/** HMAC-SHA256 of these bytes under any of the secrets. */
export function isSignedBy(
  secrets: readonly Uint8Array[],
  bytes: Uint8Array,
  signature: Uint8Array,
  compute: Hmac = hmac,
): boolean {
  let isKnown = false;
  for (const secret of known(secrets)) isKnown = equal(compute(secret, bytes), signature) || isKnown;
  return isKnown;
}

/** Computes each once, for these very bytes and this very secret: several headers may ask for it. */
export function rememberedHmac(): Hmac {
  const found = new Map<Uint8Array, Map<Uint8Array, Uint8Array>>();
  return (secret, bytes) => {
    const ofBytes = found.get(bytes) ?? new Map<Uint8Array, Uint8Array>();
    found.set(bytes, ofBytes);
    const computed = ofBytes.get(secret) ?? hmac(secret, bytes);
    ofBytes.set(secret, computed);
    return computed;
  };
}

function hmac(secret: Uint8Array, bytes: Uint8Array): Uint8Array {
  return createHmac('sha256', secret).update(bytes).digest();
}

/** The secret itself, said aloud. */
export function isAnyOf(secrets: readonly Uint8Array[], said: Uint8Array): boolean {
  // Compared by their hashes under a key of this moment: neither length nor common beginning takes another time.
  const key = randomBytes(32);
  const hash = (bytes: Uint8Array) => hmac(key, bytes);
  const given = hash(said);
  let isKnown = false;
  for (const secret of known(secrets)) isKnown = timingSafeEqual(hash(secret), given) || isKnown;
  return isKnown;
}

/** `sha256=<hex HMAC of the body>` in this header, in lower case: how most forges sign. */
export function signedIn(name: string): Pick<Receiver, 'proofs' | 'verify'> {
  return {
    proofs: [name],
    verify: ({ header, body, hmac: compute }, secrets) => {
      const signature = fromPrefixedHex(header(name));
      return signature !== undefined && isSignedBy(secrets, body, signature, compute);
    },
  };
}

/** 64 hexadecimal digits, as bytes; `undefined` for anything else. */
export function fromHex(text: string | undefined): Uint8Array | undefined {
  return text !== undefined && /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : undefined;
}

/** `sha256=<hex>`, and no other algorithm: what is called SHA-1 may be forged. */
function fromPrefixedHex(text: string | undefined): Uint8Array | undefined {
  const prefix = 'sha256=';
  return text?.startsWith(prefix) ? fromHex(text.slice(prefix.length)) : undefined;
}

/** Base64 as it is written, and in no other way that a lenient reader takes; `undefined` for anything else. */
export function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

/** An empty secret is none: anyone could sign with it. */
function known(secrets: readonly Uint8Array[]): readonly Uint8Array[] {
  return secrets.filter((secret) => secret.length > 0);
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
