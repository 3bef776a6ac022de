import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as openpgp from 'openpgp';
import { signerOf } from '../../../../gitops/signatures/signer.ts';
import { readTrustedKeys } from '../../../../gitops/signatures/trusted-keys.ts';
import { type OpenPgpOptions, type OpenPgpSigner, openPgpKey } from '../../../support/git/openpgp-signing.ts';

const payload = Buffer.from('tree 0000\n\nhello\n');
const at = Date.parse('2026-11-01T00:00:00Z') / 1000;
const now = Date.parse('2026-11-27T00:00:00Z') / 1000;

function judged(signature: string, ...keys: readonly string[]) {
  const trusted = readTrustedKeys('signers', { 'people.asc': keys.join('\n') });
  return signerOf({ payload, signature, at }, trusted, now);
}

function invalid(message: RegExp) {
  return { name: 'SignatureRefusal', reason: 'SignatureInvalid', message };
}

const kinds: Readonly<Record<string, OpenPgpOptions>> = {
  'RSA 2048': { type: 'rsa' },
  'Ed25519 as GnuPG writes it': {},
  'Ed25519 as RFC 9580 has it': { type: 'curve25519' },
  Ed448: { type: 'curve448' },
  'NIST P-256': { curve: 'nistP256' },
  'NIST P-384': { curve: 'nistP384' },
  'NIST P-521': { curve: 'nistP521' },
};

for (const [kind, options] of Object.entries(kinds)) {
  for (const subkey of [false, true]) {
    test(`a signature by ${subkey ? 'a subkey' : 'a key'} of ${kind} counts, by the name of its owner`, async () => {
      const ada = await openPgpKey({ ...options, subkey });
      const signer = judged(await ada.sign(payload), ada.publicKey);
      assert.equal(signer.by, 'Ada <ada@example.com>');
      const used = subkey ? ada.privateKey.subkeys[0] : ada.privateKey;
      assert.equal(signer.key, used?.getFingerprint().toUpperCase());
      await assert.rejects(
        async () => {
          const other = await ada.sign(Buffer.from('another'));
          judged(other, ada.publicKey);
        },
        invalid(/is not one of it/),
      );
    });
  }
}

test('of several keys the one counts that signed, and one that is not there does not', async () => {
  const [ada, bob, eve] = await Promise.all(['Ada', 'Bob', 'Eve'].map((name) => openPgpKey({ name })));
  assert.ok(ada && bob && eve);
  assert.equal(judged(await bob.sign(payload), ada.publicKey, bob.publicKey).by, 'Bob <bob@example.com>');
  const signature = await eve.sign(payload);
  assert.throws(() => judged(signature, ada.publicKey, bob.publicKey), { reason: 'SignerNotTrusted' });
});

test('an RSA key below 2048 bits is refused by name', async () => {
  const weak = await openPgpKey({ type: 'rsa', rsaBits: 1024 });
  const signature = await weak.sign(payload);
  assert.throws(() => judged(signature, weak.publicKey), invalid(/RSA key of 1024 bits/));
});

test('a key of version 6 is a problem of the list of keys, with its line', async () => {
  const ada = await openPgpKey({ type: 'curve25519', v6: true });
  assert.throws(
    () => readTrustedKeys('signers', { 'ada.asc': `\n${ada.publicKey}` }),
    /ConfigMap signers .* ada\.asc:2: its key can't be used: it has an OpenPGP key of version 6/,
  );
});

test('a private key in the list is refused, and told to be one', async () => {
  const ada = await openPgpKey();
  const disguised = ada.privateKey.armor().replaceAll('PRIVATE KEY', 'PUBLIC KEY');
  assert.throws(() => readTrustedKeys('signers', { 'ada.asc': disguised }), /it is a private key/);
  assert.throws(
    () => readTrustedKeys('signers', { 'ada.asc': ada.privateKey.armor() }),
    /ada\.asc:1: it holds something else/,
  );
});

test('a key counts for what it signed before it expired, and not for what comes from the future', async () => {
  const ada = await openPgpKey({ expiresAfter: 14 * 86_400, subkey: true });
  const early = await ada.sign(payload, new Date('2026-10-10T00:00:00Z'));
  assert.equal(judged(early, ada.publicKey).by, 'Ada <ada@example.com>');
  const lasting = await openPgpKey();
  const late = await lasting.sign(payload, new Date('2026-11-28T00:00:00Z'));
  assert.throws(() => judged(late, lasting.publicKey), invalid(/from the future/));
});

test('a signature after the key expired, or before it was made, does not count', async () => {
  const ada = await openPgpKey();
  const early = await lowSigned(ada, new Date('2026-09-01T00:00:00Z'));
  assert.throws(() => judged(early, ada.publicKey), invalid(/before that was made/));
  const short = await openPgpKey({ expiresAfter: 86_400 });
  const late = await lowSigned(short, new Date('2026-11-01T00:00:00Z'));
  assert.throws(() => judged(late, short.publicKey), invalid(/after that had expired/));
});

test('a key and a subkey that were revoked count no more, also for what they signed before', async () => {
  const ada = await openPgpKey({ subkey: true });
  const signature = await ada.sign(payload);
  const { publicKey } = await openpgp.revokeKey({ key: ada.privateKey, format: 'object' });
  assert.throws(() => judged(signature, publicKey.armor()), invalid(/which its owner revoked/));
  const revoked = ada.privateKey.toPublic();
  const [subkey] = revoked.subkeys;
  assert.ok(subkey);
  revoked.subkeys = [await subkey.revoke(ada.privateKey.keyPacket as openpgp.SecretKeyPacket)];
  assert.throws(() => judged(signature, revoked.armor()), invalid(/subkey .* which its owner revoked/));
});

test('a key whose owner does not say that it may sign does not', async () => {
  const ada = await openPgpKey();
  const packets = await certified(ada, (statement) => {
    statement.keyFlags = new Uint8Array([openpgp.enums.keyFlags.certifyKeys]);
  });
  const signature = await lowSigned(ada, new Date(at * 1000));
  assert.throws(() => judged(signature, armored(packets)), invalid(/does not say that it may sign/));
});

test("another person's subkey, bound to a key without its own word, does not sign for it", async () => {
  const [ada, mallory] = [await openPgpKey({ subkey: true }), await openPgpKey({ name: 'Mallory' })];
  const [victim] = ada.privateKey.subkeys;
  assert.ok(victim);
  const binding = await statement(mallory, openpgp.enums.signature.subkeyBinding, {
    key: mallory.privateKey.keyPacket,
    bind: victim.keyPacket,
  });
  const packets = mallory.privateKey.toPublic().toPacketList();
  packets.push(ada.privateKey.toPublic().subkeys[0]?.keyPacket as openpgp.PublicSubkeyPacket, binding);
  const signature = await ada.sign(payload);
  assert.throws(() => judged(signature, armored(packets)), invalid(/does not confirm that it belongs to its key/));
});

test('a certificate whose own signatures were left out or are of others says nothing of its key', async () => {
  const [ada, mallory] = [await openPgpKey(), await openPgpKey({ name: 'Mallory' })];
  const bare = new openpgp.PacketList<openpgp.AnyPacket>();
  bare.push(ada.privateKey.toPublic().keyPacket as openpgp.AnyPacket);
  const signature = await ada.sign(payload);
  assert.throws(() => judged(signature, armored(bare)), invalid(/on which no own signature/));
  const by = await ada.privateKey.toPublic().signAllUsers([mallory.privateKey]);
  const users = by.users.map((user) => Object.assign(user, { selfCertifications: [] }));
  by.users = users;
  assert.throws(() => judged(signature, by.armor()), invalid(/on which no own signature/));
});

test('a signature over text, of two makers, of none, or of another armor is refused', async () => {
  const ada = await openPgpKey();
  const text = String(
    await openpgp.sign({
      message: await openpgp.createMessage({ text: payload.toString() }),
      signingKeys: ada.privateKey,
      detached: true,
      date: new Date(at * 1000),
    }),
  );
  assert.throws(() => judged(text, ada.publicKey), invalid(/not one of bytes/));
  const one = await openpgp.readSignature({ armoredSignature: await ada.sign(payload) });
  const two = new openpgp.PacketList<openpgp.AnyPacket>();
  two.push(...one.packets, ...one.packets);
  const both = openpgp.armor(openpgp.enums.armor.signature, two.write());
  assert.throws(() => judged(both, ada.publicKey), invalid(/more than one OpenPGP signature/));
  const none = '-----BEGIN PGP SIGNATURE-----\n\n-----END PGP SIGNATURE-----\n';
  assert.throws(() => judged(none, ada.publicKey), invalid(/can't be read/));
  const doubled = `${await ada.sign(payload)}${await ada.sign(payload)}`;
  assert.throws(() => judged(doubled, ada.publicKey), invalid(/no single block/));
  const x509 = '-----BEGIN SIGNED MESSAGE-----\nMII=\n-----END SIGNED MESSAGE-----\n';
  assert.throws(() => judged(x509, ada.publicKey), invalid(/X\.509/));
});

function armored(packets: openpgp.PacketList<openpgp.AnyPacket>): string {
  return openpgp.armor(openpgp.enums.armor.publicKey, packets.write());
}

/** By the parts of the library that check nothing: as a changed gpg would make it. */
async function lowSigned({ privateKey }: OpenPgpSigner, date: Date): Promise<string> {
  const signature = new openpgp.SignaturePacket();
  signature.signatureType = openpgp.enums.signature.binary;
  const message = await openpgp.createMessage({ binary: payload });
  return armoredSignature(await made(signature, privateKey, message.packets[0] ?? {}, date));
}

function armoredSignature(signature: openpgp.SignaturePacket): string {
  const packets = new openpgp.PacketList<openpgp.AnyPacket>();
  packets.push(signature);
  return openpgp.armor(openpgp.enums.armor.signature, packets.write());
}

async function statement(
  { privateKey }: OpenPgpSigner,
  type: openpgp.enums.signature,
  about: object,
): Promise<openpgp.SignaturePacket> {
  const signature = new openpgp.SignaturePacket();
  signature.signatureType = type;
  signature.keyFlags = new Uint8Array([openpgp.enums.keyFlags.signData]);
  return made(signature, privateKey, about, new Date('2026-10-02T00:00:00Z'));
}

async function made(
  signature: openpgp.SignaturePacket,
  { keyPacket }: openpgp.PrivateKey,
  data: object,
  date: Date,
): Promise<openpgp.SignaturePacket> {
  signature.publicKeyAlgorithm = keyPacket.algorithm;
  signature.hashAlgorithm = openpgp.enums.hash.sha512;
  // Its types lack the configuration, without which it does not work.
  const sign = signature.sign.bind(signature) as (...all: readonly unknown[]) => Promise<void>;
  await sign(keyPacket, data, date, true, openpgp.config);
  return signature;
}

/** The same key, with a new statement of its owner in place of the one that it has. */
async function certified(signer: OpenPgpSigner, change: (statement: openpgp.SignaturePacket) => void) {
  const { privateKey } = signer;
  const [user] = privateKey.users;
  const signature = new openpgp.SignaturePacket();
  signature.signatureType = openpgp.enums.signature.certGeneric;
  change(signature);
  const about = { userID: user?.userID, key: privateKey.keyPacket };
  await made(signature, privateKey, about, new Date('2026-10-02T00:00:00Z'));
  const packets = new openpgp.PacketList<openpgp.AnyPacket>();
  packets.push(privateKey.toPublic().keyPacket as openpgp.AnyPacket);
  if (user?.userID) packets.push(user.userID);
  packets.push(signature);
  return packets;
}
