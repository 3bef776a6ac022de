import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readCommitObject, readTagObject } from '../../../../gitops/signatures/signed-object.ts';
import { signerOf } from '../../../../gitops/signatures/signer.ts';
import { readTrustedKeys } from '../../../../gitops/signatures/trusted-keys.ts';

// Made by git 2.39.5, OpenSSH 9.2 and GnuPG 2.2.40: a machine that runs tests may have neither of the last two.
const fixtures = join(import.meta.dirname, '../../../support/fixtures/signatures');
const now = Date.parse('2026-11-27T00:00:00Z') / 1000;
const bytes = (name: string) => readFileSync(join(fixtures, name));
const trusted = readTrustedKeys('signers', {
  allowed_signers: bytes('allowed_signers').toString(),
  'people.asc': bytes('keys.asc').toString(),
});

function signer(name: string) {
  const object = name.endsWith('.tag') ? readTagObject(bytes(name)) : readCommitObject(bytes(name));
  return signerOf(object.signed(), trusted, now);
}

const good: Readonly<Record<string, string>> = {
  'ssh-ed25519.commit': 'ed25519@example.com',
  'ssh-ecdsa-256.commit': 'ecdsa-256@example.com',
  'ssh-ecdsa-384.commit': 'ecdsa-384@example.com',
  'ssh-ecdsa-521.commit': 'ecdsa-521@example.com',
  'ssh-rsa-3072.commit': 'rsa-3072@example.com',
  'ssh-ed25519.tag': 'ed25519@example.com',
  'gpg-rsa.commit': 'rsa <rsa@example.com>',
  'gpg-eddsa.commit': 'eddsa <eddsa@example.com>',
  'gpg-eddsa.tag': 'eddsa <eddsa@example.com>',
  'gpg-p256.commit': 'p256 <p256@example.com>',
  'gpg-p384.commit': 'p384 <p384@example.com>',
  'gpg-p521.commit': 'p521 <p521@example.com>',
  'gpg-sub.commit': 'sub <sub@example.com>',
  // Its key has expired since: it had not when it signed.
  'gpg-expiring.commit': 'expiring <expiring@example.com>',
};

for (const [name, by] of Object.entries(good)) {
  test(`${name}, as the tool made it, counts as signed by ${by.split(' ')[0]}`, () => {
    assert.equal(signer(name).by, by);
  });

  test(`${name} with one bit changed anywhere in what was signed counts no more`, () => {
    const object = name.endsWith('.tag') ? readTagObject(bytes(name)) : readCommitObject(bytes(name));
    const { payload, ...rest } = object.signed();
    for (let at = 0; at < payload.length; at += 7) {
      const changed = Buffer.from(payload);
      changed.writeUInt8((changed[at] ?? 0) ^ 1, at);
      assert.throws(() => signerOf({ ...rest, payload: changed }, trusted, now), { reason: 'SignatureInvalid' });
    }
  });
}

const bad: Readonly<Record<string, RegExp>> = {
  'gpg-sha1.commit': /over SHA-1, which is not accepted/,
  'gpg-future.commit': /from the future/,
  'gpg-revoked.commit': /which its owner revoked/,
  'gpg-weak.commit': /RSA key of 1024 bits/,
  'gpg-brain.commit': /on a curve that is not supported/,
};

for (const [name, why] of Object.entries(bad)) {
  test(`${name} is refused: ${why.source}`, () => {
    assert.throws(() => signer(name), { reason: 'SignatureInvalid', message: why });
  });
}

test('a signature that ssh-keygen made for files is none of a commit', () => {
  const object = { payload: bytes('payload'), signature: bytes('ssh-other-namespace.sig').toString(), at: now };
  assert.throws(() => signerOf(object, trusted, now), /signed for namespace file, not git/);
});

test('a key that is not among the trusted ones is named, and does not count', () => {
  const nobody = { ssh: new Map(), openPgp: [] };
  for (const name of ['ssh-ed25519.commit', 'gpg-rsa.commit']) {
    const object = readCommitObject(bytes(name)).signed();
    assert.throws(() => signerOf(object, nobody, now), {
      reason: 'SignerNotTrusted',
      message: /, which is not trusted$/,
    });
  }
});
