import { createHash } from 'node:crypto';
import { type Curve, ecdsa, eddsa, padded, rsa, trimmed } from '../public-keys.ts';
import { invalid, SignatureRefusal } from '../refusal.ts';
import { type PacketReader, packetReader } from './packets.ts';

/** A key packet of version 4, primary or not. */
export interface PublicKey {
  /** Hexadecimal digits, upper case, as gpg prints them. */
  readonly fingerprint: string;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly algorithm: number;
  /** What signatures over the key itself hash of it. */
  readonly prefixed: Buffer;
  /** @throws SignatureRefusal where a key of its kind can't be used */
  isSignature(hash: string, data: Buffer, material: Buffer): boolean;
}

type Check = (hash: string, data: Buffer, material: PacketReader) => boolean;

/** Algorithms that are named where they are refused (RFC 9580, 9.1). */
const refused: ReadonlyMap<number, string> = new Map([
  [2, 'RSA for encryption only'],
  [16, 'Elgamal'],
  [17, 'DSA'],
  [18, 'ECDH'],
  [25, 'X25519'],
  [26, 'X448'],
]);

/** OIDs in hexadecimal digits. */
const ecdsaCurves: ReadonlyMap<string, Curve> = new Map([
  ['2a8648ce3d030107', 'nistp256'],
  ['2b81040022', 'nistp384'],
  ['2b81040023', 'nistp521'],
]);
const ed25519Legacy = '2b06010401da470f01';

/** @throws SignatureRefusal for another version, or what can't be read. A weak key is read, and can't sign. */
export function readPublicKey(body: Buffer): PublicKey {
  const reader = packetReader(body);
  const version = reader.number(1);
  if (version !== 4) throw invalid(`has an OpenPGP key of version ${version}: only version 4 is supported`);
  const created = reader.number(4);
  const algorithm = reader.number(1);
  const check = checkOf(algorithm, reader);
  const prefixed = prefixedKey(body);
  return {
    created,
    algorithm,
    prefixed,
    fingerprint: createHash('sha1').update(prefixed).digest('hex').toUpperCase(),
    isSignature: (hash, data, material) => {
      if (check instanceof SignatureRefusal) throw check;
      const parts = packetReader(material);
      const isIt = check(hash, data, parts);
      if (!parts.isAtEnd()) throw invalid('has bytes after its OpenPGP signature');
      return isIt;
    },
  };
}

function prefixedKey(body: Buffer): Buffer {
  const head = Buffer.from([0x99, 0, 0]);
  if (body.length > 0xffff) throw invalid('has an OpenPGP key that is too long');
  head.writeUInt16BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** Why it can't be used comes to light where it is used: other keys of the same certificate may be fine. */
function checkOf(algorithm: number, reader: PacketReader): Check | SignatureRefusal {
  try {
    return readCheck(algorithm, reader);
  } catch (error) {
    if (error instanceof SignatureRefusal) return error;
    throw error;
  }
}

function readCheck(algorithm: number, reader: PacketReader): Check {
  switch (algorithm) {
    case 1:
    case 3: {
      const [n, e] = [trimmed(reader.mpi()), trimmed(reader.mpi())];
      const check = rsa(n, e);
      return (hash, data, material) => check(hash, data, trimmed(material.mpi()));
    }
    case 19: {
      const curve = ecdsaCurves.get(oidOf(reader));
      if (!curve) throw invalid('uses an OpenPGP key on a curve that is not supported');
      const check = ecdsa(curve, reader.mpi());
      return (hash, data, material) => check(hash, data, trimmed(material.mpi()), trimmed(material.mpi()));
    }
    case 22: {
      if (oidOf(reader) !== ed25519Legacy) throw invalid('uses an OpenPGP key on a curve that is not supported');
      const point = reader.mpi();
      if (point[0] !== 0x40) throw invalid('has an Ed25519 key that can not be read');
      const check = eddsa('Ed25519', point.subarray(1));
      return (hash, data, material) => {
        const [r, s] = [padded(trimmed(material.mpi()), 32), padded(trimmed(material.mpi()), 32)];
        return check(digest(hash, data), Buffer.concat([r, s]));
      };
    }
    case 27: {
      const check = eddsa('Ed25519', reader.bytes(32));
      return (hash, data, material) => check(digest(hash, data), material.bytes(64));
    }
    case 28: {
      const check = eddsa('Ed448', reader.bytes(57));
      return (hash, data, material) => check(digest(hash, data), material.bytes(114));
    }
    default:
      throw invalid(`uses an OpenPGP key of algorithm ${refused.get(algorithm) ?? algorithm}, which is not supported`);
  }
}

function oidOf(reader: PacketReader): string {
  return reader.bytes(reader.number(1)).toString('hex');
}

/** EdDSA of OpenPGP signs the hash, not the data. */
function digest(hash: string, data: Buffer): Buffer {
  return createHash(hash).update(data).digest();
}
