import { createPublicKey, type JsonWebKeyInput, type KeyObject, verify } from 'node:crypto';
import { invalid } from './refusal.ts';

/** Bits of an RSA key, and of its exponent. */
const rsaBits = { least: 2048, most: 16_384, exponent: 64 };

export const curves = {
  nistp256: { crv: 'P-256', bytes: 32, hash: 'sha256' },
  nistp384: { crv: 'P-384', bytes: 48, hash: 'sha384' },
  nistp521: { crv: 'P-521', bytes: 66, hash: 'sha512' },
} as const;

export type Curve = keyof typeof curves;

/** Whether it is the signature of that data; numbers are positive, without zeros before them. */
export type CheckRsa = (hash: string, data: Buffer, signature: Buffer) => boolean;
export type CheckEcdsa = (hash: string, data: Buffer, r: Buffer, s: Buffer) => boolean;
export type CheckEdwards = (data: Buffer, signature: Buffer) => boolean;

/** @throws SignatureRefusal for a key that is too weak, or none */
export function rsa(n: Buffer, e: Buffer): CheckRsa {
  const bits = bitsOf(n);
  if (bits < rsaBits.least) throw invalid(`uses an RSA key of ${bits} bits: use one of ${rsaBits.least} or more`);
  if (bits > rsaBits.most) throw invalid(`uses an RSA key of more than ${rsaBits.most} bits`);
  // With exponent 1 all bytes would be a signature of themselves.
  const isOdd = (e.at(-1) ?? 0) % 2 === 1;
  if (!isOdd || bitsOf(e) < 2 || bitsOf(e) > rsaBits.exponent) throw invalid('uses an RSA key with a weak exponent');
  const key = fromJwk({ kty: 'RSA', e: e.toString('base64url'), n: n.toString('base64url') });
  return (hash, data, signature) =>
    signature.length <= n.length && verify(hash, data, key, padded(signature, n.length));
}

/** @throws SignatureRefusal for what is no point of the curve */
export function ecdsa(curve: Curve, point: Buffer): CheckEcdsa {
  const { crv, bytes } = curves[curve];
  if (point.length !== 1 + 2 * bytes || point[0] !== 4) throw invalid('has an ECDSA key that is no uncompressed point');
  const [x, y] = [point.subarray(1, 1 + bytes), point.subarray(1 + bytes)];
  const key = fromJwk({ kty: 'EC', crv, x: x.toString('base64url'), y: y.toString('base64url') });
  return (hash, data, r, s) => {
    if (r.length > bytes || s.length > bytes) return false;
    const signature = Buffer.concat([padded(r, bytes), padded(s, bytes)]);
    return verify(hash, data, { key, dsaEncoding: 'ieee-p1363' }, signature);
  };
}

const edwards = {
  Ed25519: { point: 32, signature: 64 },
  Ed448: { point: 57, signature: 114 },
} as const;

/** @throws SignatureRefusal for a key of another length */
export function eddsa(crv: keyof typeof edwards, point: Buffer): CheckEdwards {
  const lengths = edwards[crv];
  if (point.length !== lengths.point) throw invalid(`has an ${crv} key of another length than ${lengths.point} bytes`);
  const key = fromJwk({ kty: 'OKP', crv, x: point.toString('base64url') });
  return (data, signature) => signature.length === lengths.signature && verify(null, data, key, signature);
}

function fromJwk(key: JsonWebKeyInput['key']): KeyObject {
  try {
    return createPublicKey({ key, format: 'jwk' });
  } catch {
    throw invalid('has a key that is no point of its curve, or no number of its kind');
  }
}

/** With zeros before it: both formats leave them out. */
export function padded(number: Buffer, length: number): Buffer {
  return Buffer.concat([Buffer.alloc(Math.max(0, length - number.length)), number]);
}

/** Without the zeros before it. */
export function trimmed(number: Buffer): Buffer {
  const first = number.findIndex((byte) => byte !== 0);
  return first < 0 ? Buffer.alloc(0) : number.subarray(first);
}

function bitsOf(number: Buffer): number {
  return number.length === 0 ? 0 : 8 * (number.length - 1) + (32 - Math.clz32(number[0] ?? 0));
}
