import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import * as openpgp from 'openpgp';
import { GitError } from '../../../gitops/git/error.ts';
import { dearmor } from '../../../gitops/signatures/armor.ts';
import { SignatureRefusal, type Signer } from '../../../gitops/signatures/refusal.ts';
import { readCommitObject, readTagObject, type SignedObject } from '../../../gitops/signatures/signed-object.ts';
import { signerOf } from '../../../gitops/signatures/signer.ts';
import { readTrustedKeys } from '../../../gitops/signatures/trusted-keys.ts';
import { mutated, withOneByteChanged } from '../mutate.ts';
import { target } from '../target.ts';

const fixtures = join(import.meta.dirname, '../../support/fixtures/signatures');
const bytes = (name: string) => readFileSync(join(fixtures, name));
const now = Date.parse('2026-11-27T00:00:00Z') / 1000;
const keys = { allowed_signers: bytes('allowed_signers').toString(), 'people.asc': bytes('keys.asc').toString() };
const trusted = readTrustedKeys('signers', keys);
const commits = ['ssh-ed25519', 'ssh-ecdsa-256', 'ssh-rsa-3072', 'gpg-eddsa', 'gpg-rsa', 'gpg-sub', 'gpg-revoked'];
const good = new Map(commits.map((name) => [name, bytes(`${name}.commit`)]));
const payloads = new Set([...good.values()].map((commit) => readCommitObject(commit).signed().payload.toString('hex')));

/** Nothing that a stranger writes may count as signed but what a person signed, byte for byte. */
function judge(read: () => SignedObject): Signer | undefined {
  try {
    const object = read();
    const signer = signerOf(object, trusted, now);
    if (!payloads.has(object.payload.toString('hex'))) throw new Error('other bytes than those that were signed count');
    return signer;
  } catch (error) {
    if (error instanceof SignatureRefusal) return undefined;
    throw error;
  }
}

/** A commit or tag as a stranger pushes it. */
export const signedObjectTarget = target<Buffer>({
  name: 'signed commits',
  inputs: mutated(fc.constantFrom(...good.values(), bytes('ssh-ed25519.tag')), [
    'gpgsig ',
    'tree ',
    'parent ',
    '\n ',
    '-----BEGIN SSH SIGNATURE-----',
    '-----END SSH SIGNATURE-----',
  ]),
  variants: (input) => withOneByteChanged(input),
  try: async (input) => {
    judge(() => readCommitObject(input).signed());
    try {
      readTagObject(input).signed();
    } catch (error) {
      if (!(error instanceof SignatureRefusal)) throw error;
    }
  },
});

const parts = [...good].map(([name, commit]) => {
  const { payload, signature, at } = readCommitObject(commit).signed();
  const label = name.startsWith('ssh') ? 'SSH SIGNATURE' : 'PGP SIGNATURE';
  return { label, payload, at, bytes: dearmor(signature, label) };
});

/** A signature whose bytes are changed below its armor: what still counts must count for OpenPGP.js as well. */
export const signatureTarget = target<{ readonly part: number; readonly changed: Buffer }>({
  name: 'signatures',
  inputs: fc
    .nat(parts.length - 1)
    .chain((part) =>
      fc.record({ part: fc.constant(part), changed: mutated(fc.constant(parts[part]?.bytes ?? Buffer.alloc(0))) }),
    ),
  try: async ({ part, changed }) => {
    const { label, payload, at } = parts[part] ?? { label: '', payload: Buffer.alloc(0), at: 0 };
    const armored = `-----BEGIN ${label}-----\n\n${changed.toString('base64')}\n-----END ${label}-----\n`;
    const signature = label.startsWith('SSH') ? armored.replace('\n\n', '\n') : armored;
    const signer = judge(() => ({ payload, signature, at }));
    if (signer && label.startsWith('PGP')) await confirm(signature, payload);
  },
});

async function confirm(armoredSignature: string, payload: Buffer): Promise<void> {
  const { signatures } = await openpgp.verify({
    message: await openpgp.createMessage({ binary: payload }),
    signature: await openpgp.readSignature({ armoredSignature }),
    verificationKeys: await openpgp.readKeys({ armoredKeys: keys['people.asc'], config: { minRSABits: 1024 } }),
    date: new Date(now * 1000),
  });
  if (signatures.length !== 1) throw new Error(`${signatures.length} signatures`);
  await signatures[0]?.verified;
}

/** Items of a ConfigMap, as an admin in haste writes them. */
export const trustedKeysTarget = target<{ readonly ssh: Buffer; readonly people: Buffer }>({
  name: 'trusted keys',
  inputs: fc.record({
    ssh: mutated(fc.constant(keys.allowed_signers), ['cert-authority', 'namespaces="', 'valid-after=', '#', ' ', '"']),
    people: mutated(fc.constantFrom(keys['people.asc'], ''), ['-----BEGIN PGP PUBLIC KEY BLOCK-----', '=']),
  }),
  try: async ({ ssh, people }) => {
    try {
      const items = { allowed_signers: ssh.toString(), ...(people.length > 0 && { 'people.asc': people.toString() }) };
      const read = readTrustedKeys('signers', items);
      for (const { payload, at } of parts) {
        const signature = `-----BEGIN PGP SIGNATURE-----\n\n${payload.toString('base64')}\n-----END PGP SIGNATURE-----`;
        try {
          signerOf({ payload, at, signature }, read, now);
        } catch (error) {
          if (!(error instanceof SignatureRefusal)) throw error;
        }
      }
    } catch (error) {
      if (!(error instanceof GitError) || error.reason !== 'TrustedKeysUnusable') throw error;
    }
  },
});
