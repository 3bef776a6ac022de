import { createHash } from 'node:crypto';
import { dearmor } from '../armor.ts';
import { invalid } from '../refusal.ts';
import { printableType } from './key.ts';
import { sshReader, sshString } from './wire.ts';

export interface SshSignature {
  /** As it stands in the signature: whose key it is says only the list of allowed signers. */
  readonly publicKey: Buffer;
  readonly signature: Buffer;
  /** What the key signed. */
  readonly signed: Buffer;
}

const magic = 'SSHSIG';
/** Of `git`: a signature that was made for something else (a file, a login) is none of a commit. */
export const gitNamespace = 'git';

/** OpenSSH's PROTOCOL.sshsig. @throws SignatureRefusal SignatureInvalid */
export function readSshSignature(armored: string, payload: Buffer): SshSignature {
  const reader = sshReader(dearmor(armored, 'SSH SIGNATURE'));
  if (reader.bytes(magic.length).toString('latin1') !== magic || reader.uint32() !== 1)
    throw invalid('has an SSH signature of an unknown version');
  const publicKey = reader.string();
  const namespace = reader.text();
  const reserved = reader.string();
  const hash = reader.text();
  const signature = reader.string();
  if (!reader.isAtEnd()) throw invalid('has bytes after its SSH signature');
  if (namespace !== gitNamespace) throw invalid(`was signed for namespace ${printableType(namespace)}, not git`);
  if (hash !== 'sha256' && hash !== 'sha512') throw invalid(`has an SSH signature over ${printableType(hash)}`);
  const digest = createHash(hash).update(payload).digest();
  const signed = [sshString(namespace), sshString(reserved), sshString(hash), sshString(digest)];
  return { publicKey, signature, signed: Buffer.concat([Buffer.from(magic), ...signed]) };
}
