import { invalid } from '../refusal.ts';
import { type Packet, packetReader, subpacketsIn } from './packets.ts';
import type { PublicKey } from './public-key.ts';

/** Types of signatures (RFC 9580, 5.2.1). */
export const types = {
  binary: 0x00,
  certifications: [0x10, 0x11, 0x12, 0x13],
  subkeyBinding: 0x18,
  primaryBinding: 0x19,
  directKey: 0x1f,
  keyRevocation: 0x20,
  subkeyRevocation: 0x28,
  certificationRevocation: 0x30,
} as const;

/** May sign data: of the key flags (5.2.3.29). */
export const maySign = 0x02;

export interface Signature {
  readonly type: number;
  /** Seconds since the epoch. */
  readonly created: number;
  /** Seconds after that. */
  readonly expiresAfter?: number;
  /** Seconds after the key's creation. */
  readonly keyExpiresAfter?: number;
  /** Absent: it does not say. */
  readonly keyFlags?: number;
  readonly isPrimaryUserId: boolean;
  /** As far as it says by which key it was made. Hexadecimal digits, upper case. */
  readonly issuer: { readonly fingerprint?: string; readonly keyId?: string };
  /** In a binding of a subkey: by that subkey. */
  readonly embedded: readonly Buffer[];
  /** Whether that key made it, of what was signed. @throws SignatureRefusal */
  isBy(key: PublicKey, signed: Buffer): boolean;
}

/** Hashes that can't be forged. The others are named where they are refused. */
const hashes: ReadonlyMap<number, string> = new Map([
  [8, 'sha256'],
  [9, 'sha384'],
  [10, 'sha512'],
  [12, 'sha3-256'],
  [14, 'sha3-512'],
]);
const weakHashes: ReadonlyMap<number, string> = new Map([
  [1, 'MD5'],
  [2, 'SHA-1'],
  [3, 'RIPEMD-160'],
  [11, 'SHA-224'],
]);

const subpackets = {
  created: 2,
  expiresAfter: 3,
  keyExpiresAfter: 9,
  issuer: 16,
  primaryUserId: 25,
  keyFlags: 27,
  embedded: 32,
  issuerFingerprint: 33,
} as const;

/** What may be critical without changing what a signature means here (5.2.3.7). */
const understood = new Set([2, 3, 4, 5, 6, 7, 9, 11, 16, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 39]);

/** @throws SignatureRefusal for another version, or what can't be read */
export function readSignature(body: Buffer): Signature {
  const reader = packetReader(body);
  const version = reader.number(1);
  if (version !== 4) throw invalid(`has an OpenPGP signature of version ${version}: only version 4 is supported`);
  const type = reader.number(1);
  const algorithm = reader.number(1);
  const hashNumber = reader.number(1);
  const hashedArea = reader.bytes(reader.number(2));
  const unhashed = subpacketsIn(reader.bytes(reader.number(2)));
  reader.number(2);
  const material = reader.rest();
  const hashed = subpacketsIn(hashedArea);
  for (const { tag } of hashed)
    if (tag & 0x80 && !understood.has(tag & 0x7f)) throw invalid(`has a critical part ${tag & 0x7f} that is unknown`);
  const one = (wanted: number) => only(hashed, wanted);
  const created = numberIn(one(subpackets.created));
  if (created === undefined) throw invalid('has an OpenPGP signature that does not say when it was made');
  const expiresAfter = numberIn(one(subpackets.expiresAfter));
  const keyExpiresAfter = numberIn(one(subpackets.keyExpiresAfter));
  const flags = one(subpackets.keyFlags);
  const trailer = trailerOf(body.subarray(0, 6 + hashedArea.length));
  return {
    type,
    created,
    // Zero is never.
    ...(expiresAfter && { expiresAfter }),
    ...(keyExpiresAfter && { keyExpiresAfter }),
    ...(flags && { keyFlags: flags[0] ?? 0 }),
    isPrimaryUserId: one(subpackets.primaryUserId)?.[0] === 1,
    issuer: issuerIn([...hashed, ...unhashed]),
    embedded: [...hashed, ...unhashed].flatMap(({ tag, body: inner }) =>
      (tag & 0x7f) === subpackets.embedded ? [inner] : [],
    ),
    isBy: (key, signed) => {
      const hash = hashes.get(hashNumber);
      if (hash === undefined)
        throw invalid(
          `has an OpenPGP signature over ${weakHashes.get(hashNumber) ?? `hash ${hashNumber}`}, which is not accepted`,
        );
      // RSA has two numbers: 3 is for keys that only sign.
      const kind = (number: number) => (number === 3 ? 1 : number);
      if (kind(algorithm) !== kind(key.algorithm))
        throw invalid('has a signature of another kind than its OpenPGP key');
      return key.isSignature(hash, Buffer.concat([signed, trailer]), material);
    },
  };
}

/** Hashed after the data (5.2.4): the signature up to the hashed parts, and how long that is. */
function trailerOf(start: Buffer): Buffer {
  const end = Buffer.from([4, 0xff, 0, 0, 0, 0]);
  end.writeUInt32BE(start.length, 2);
  return Buffer.concat([start, end]);
}

/** Of several the last one counts for gpg, the first one for others: then neither does. */
function only(area: readonly Packet[], wanted: number): Buffer | undefined {
  const [first, second] = area.filter(({ tag }) => (tag & 0x7f) === wanted);
  if (second) throw invalid(`has an OpenPGP signature with part ${wanted} twice`);
  return first?.body;
}

function numberIn(body: Buffer | undefined): number | undefined {
  if (body && body.length !== 4) throw invalid('has an OpenPGP signature that can not be read');
  return body?.readUInt32BE();
}

/** A hint only: which keys to try. */
function issuerIn(all: readonly Packet[]): Signature['issuer'] {
  const bodies = (wanted: number) => all.flatMap(({ tag, body }) => ((tag & 0x7f) === wanted ? [body] : []));
  const [fingerprint] = bodies(subpackets.issuerFingerprint).filter((body) => body[0] === 4 && body.length === 21);
  const [keyId] = bodies(subpackets.issuer).filter((body) => body.length === 8);
  return {
    ...(fingerprint && { fingerprint: fingerprint.toString('hex', 1).toUpperCase() }),
    ...(keyId && { keyId: keyId.toString('hex').toUpperCase() }),
  };
}

/** Whether it may be by that key, as far as it says. */
export function mayBeBy({ issuer: { fingerprint, keyId } }: Pick<Signature, 'issuer'>, key: PublicKey): boolean {
  if (fingerprint !== undefined) return fingerprint === key.fingerprint;
  return keyId !== undefined && key.fingerprint.endsWith(keyId);
}
