import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { sshString } from '../../../gitops/signatures/ssh/wire.ts';

/** What changes in a signature: to make one that must not count. */
export interface SshSigning {
  readonly namespace?: string;
  readonly hash?: 'sha256' | 'sha512';
  /** Of a security key. */
  readonly flags?: number;
  /** The format that it says it has. */
  readonly format?: string;
}

export interface SshSigner {
  readonly blob: Buffer;
  /** As it stands in a file of allowed signers. */
  line(principals: string, options?: string): string;
  /** An armored signature, as `ssh-keygen -Y sign` writes it. */
  sign(payload: Buffer | string, options?: SshSigning): string;
}

export const sshKinds = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
  'sk-ssh-ed25519@openssh.com',
  'sk-ecdsa-sha2-nistp256@openssh.com',
] as const;
export type SshKind = (typeof sshKinds)[number];

const application = 'ssh:';

/** A key pair that signs as OpenSSH does, without it: a machine may have none. */
export function sshSigner(kind: SshKind = 'ssh-ed25519', { rsaBits = 2048 } = {}): SshSigner {
  return signerWith(kind, keyOf(kind, rsaBits));
}

export function signerWith(kind: SshKind, key: KeyObject): SshSigner {
  const blob = publicBlob(kind, key);
  const isSecurityKey = kind.startsWith('sk-');
  return {
    blob,
    line: (principals, options) => [principals, ...(options ? [options] : []), kind, blob.toString('base64')].join(' '),
    sign: (payload, { namespace = 'git', hash = 'sha512', flags = 1, format } = {}) => {
      const digest = createHash(hash).update(payload).digest();
      const about = [sshString(namespace), sshString(''), sshString(hash)];
      const data = Buffer.concat([Buffer.from('SSHSIG'), ...about, sshString(digest)]);
      const name = format ?? (kind === 'ssh-rsa' ? 'rsa-sha2-512' : kind);
      const counter = Buffer.from([flags, 0, 0, 0, 7]);
      const asked = isSecurityKey ? Buffer.concat([sha256(application), counter, sha256(data)]) : data;
      const blobOf = Buffer.concat([
        sshString(name),
        sshString(signatureOf(kind, key, asked, name)),
        ...(isSecurityKey ? [counter] : []),
      ]);
      const version = Buffer.from([0, 0, 0, 1]);
      const whole = Buffer.concat([Buffer.from('SSHSIG'), version, sshString(blob), ...about, sshString(blobOf)]);
      const lines = whole.toString('base64').match(/.{1,70}/g) ?? [];
      return ['-----BEGIN SSH SIGNATURE-----', ...lines, '-----END SSH SIGNATURE-----', ''].join('\n');
    },
  };
}

function sha256(data: Buffer | string): Buffer {
  return createHash('sha256').update(data).digest();
}

function keyOf(kind: SshKind, modulusLength: number): KeyObject {
  if (kind.includes('ed25519')) return generateKeyPairSync('ed25519').privateKey;
  if (kind === 'ssh-rsa') return generateKeyPairSync('rsa', { modulusLength }).privateKey;
  return generateKeyPairSync('ec', { namedCurve: `P-${curveOf(kind)}` }).privateKey;
}

function curveOf(kind: SshKind): string {
  return /nistp(\d+)/.exec(kind)?.[1] ?? '';
}

function publicBlob(kind: SshKind, key: KeyObject): Buffer {
  const jwk = createPrivateKey(key.export({ format: 'pem', type: 'pkcs8' })).export({ format: 'jwk' });
  const part = (name: 'x' | 'y' | 'n' | 'e') => Buffer.from(String(jwk[name]), 'base64url');
  const parts = [sshString(kind)];
  if (kind === 'ssh-rsa') parts.push(mpint(part('e')), mpint(part('n')));
  else if (kind.includes('ed25519')) parts.push(sshString(part('x')));
  else
    parts.push(sshString(`nistp${curveOf(kind)}`), sshString(Buffer.concat([Buffer.from([4]), part('x'), part('y')])));
  if (kind.startsWith('sk-')) parts.push(sshString(application));
  return Buffer.concat(parts);
}

function signatureOf(kind: SshKind, key: KeyObject, data: Buffer, name: string): Buffer {
  if (kind.includes('ed25519')) return sign(null, data, key);
  if (kind === 'ssh-rsa')
    return sign(name === 'rsa-sha2-256' ? 'sha256' : name === 'ssh-rsa' ? 'sha1' : 'sha512', data, key);
  const hash = { 256: 'sha256', 384: 'sha384', 521: 'sha512' }[curveOf(kind)] ?? 'sha256';
  const both = sign(hash, data, { key, dsaEncoding: 'ieee-p1363' });
  return Buffer.concat([mpint(both.subarray(0, both.length / 2)), mpint(both.subarray(both.length / 2))]);
}

function mpint(number: Buffer): Buffer {
  const first = number.findIndex((byte) => byte !== 0);
  const trimmed = number.subarray(Math.max(0, first));
  return sshString((trimmed[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.from([0]), trimmed]) : trimmed);
}
