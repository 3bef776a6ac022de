import { createHash } from 'node:crypto';
import { type Curve, curves, ecdsa, eddsa, rsa } from '../public-keys.ts';
import { invalid } from '../refusal.ts';
import { positive, type SshReader, sshReader } from './wire.ts';

export interface SshKey {
  /** Like `ssh-ed25519`. */
  readonly type: string;
  /** `SHA256:…`, as `ssh-keygen -l` writes it. */
  readonly fingerprint: string;
  /** Whether this signature, a blob as the key's type has it, is one of that data. @throws SignatureRefusal */
  isSignature(signature: Buffer, data: Buffer): boolean;
}

/** By which a security key says that a person touched it (PROTOCOL.u2f). */
const userPresent = 0x01;

/** What signs with an RSA key. `ssh-rsa` would be SHA-1. */
const rsaHashes: ReadonlyMap<string, string> = new Map([
  ['rsa-sha2-256', 'sha256'],
  ['rsa-sha2-512', 'sha512'],
]);

/** Parses the public key of an allowed signer. @throws SignatureRefusal with why it can't be used */
export function readSshKey(blob: Buffer): SshKey {
  const reader = sshReader(blob);
  const type = reader.text();
  const check = checkFor(type, reader);
  if (!reader.isAtEnd()) throw invalid(`has bytes after the SSH key ${printableType(type)}`);
  return {
    type,
    fingerprint: fingerprintOf(blob),
    isSignature: (signature, data) => {
      const parts = sshReader(signature);
      const isIt = check(parts.text(), parts, data);
      if (!parts.isAtEnd()) throw invalid('has bytes after its SSH signature');
      return isIt;
    },
  };
}

export function fingerprintOf(blob: Buffer): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replaceAll('=', '')}`;
}

/** @param format what the signature says it is; it must fit the key */
type Check = (format: string, signature: SshReader, data: Buffer) => boolean;

function checkFor(type: string, reader: SshReader): Check {
  switch (type) {
    case 'ssh-ed25519':
      return checkEd25519(type, reader.string());
    case 'ssh-rsa':
      return checkRsa(reader.string(), reader.string());
    case 'ecdsa-sha2-nistp256':
    case 'ecdsa-sha2-nistp384':
    case 'ecdsa-sha2-nistp521':
      return checkEcdsa(type, reader.text(), reader.string());
    case 'sk-ssh-ed25519@openssh.com': {
      const [point, application] = [reader.string(), reader.string()];
      return bySecurityKey(application, checkEd25519(type, point));
    }
    case 'sk-ecdsa-sha2-nistp256@openssh.com': {
      const [curve, point, application] = [reader.text(), reader.string(), reader.string()];
      return bySecurityKey(application, checkEcdsa(type, curve, point));
    }
    default:
      throw invalid(`uses an SSH key of type ${printableType(type)}, which is not supported`);
  }
}

function checkEd25519(type: string, point: Buffer): Check {
  const check = eddsa('Ed25519', point);
  return (format, reader, data) => {
    mustBe(format, type);
    return check(data, reader.string());
  };
}

function checkRsa(exponent: Buffer, modulus: Buffer): Check {
  const check = rsa(positive(modulus), positive(exponent));
  return (format, reader, data) => {
    const hash = rsaHashes.get(format);
    if (hash === undefined) throw invalid(`has an RSA signature of format ${printableType(format)}: use rsa-sha2-512`);
    return check(hash, data, reader.string());
  };
}

function checkEcdsa(type: string, curve: string, point: Buffer): Check {
  const isKnown = (name: string): name is Curve => Object.hasOwn(curves, name);
  if (!isKnown(curve) || !type.replace('@openssh.com', '').endsWith(`-${curve}`))
    throw invalid(`has a key of type ${printableType(type)} with curve ${printableType(curve)}`);
  const check = ecdsa(curve, point);
  return (format, reader, data) => {
    mustBe(format, type);
    const parts = sshReader(reader.string());
    const [r, s] = [positive(parts.string()), positive(parts.string())];
    return parts.isAtEnd() && check(curves[curve].hash, data, r, s);
  };
}

/** The key signs what it was asked by which application, with its flags and its counter (PROTOCOL.u2f). */
function bySecurityKey(application: Buffer, check: Check): Check {
  return (format, reader, data) => {
    const inner = reader.string();
    const flags = reader.byte();
    const counter = reader.bytes(4);
    if (!(flags & userPresent)) throw invalid('was signed by a security key that no person touched');
    const signed = [sha256(application), Buffer.from([flags]), counter, sha256(data)];
    return check(format, { ...reader, string: () => inner }, Buffer.concat(signed));
  };
}

function sha256(data: Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}

function mustBe(format: string, type: string): void {
  if (format !== type) throw invalid(`has a signature of another kind than its key ${printableType(type)}`);
}

/** A stranger's word, short and of harmless characters. */
export function printableType(type: string): string {
  return /^[\w@.-]{1,64}$/.test(type) ? type : 'with an unreadable name';
}
