import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { signerOf } from '../../../../gitops/signatures/signer.ts';
import { readTrustedKeys } from '../../../../gitops/signatures/trusted-keys.ts';

// Keys that GnuPG 2.2.40 made, changed and exported, and its signatures at the times that the rows say.
const fixtures = join(import.meta.dirname, '../../../support/fixtures/signatures/keys-that-changed');
const text = (name: string) => readFileSync(join(fixtures, name), 'utf8');
const trusted = readTrustedKeys('signers', { 'people.asc': text('keys.asc') });
const now = Date.parse('2026-11-27T00:00:00Z') / 1000;

function judged(name: string): string {
  return signerOf({ payload: Buffer.from(text('payload')), signature: text(`${name}.sig`), at: now }, trusted, now).by;
}

const good: Readonly<Record<string, readonly [what: string, by: string]>> = {
  ext: ['a key whose end was put off before it came', 'ext <ext@e>'],
  two: ['a key whose first user ID was revoked, by its second', 'new <two2@e>'],
  sube1: ['a subkey before its first end', 'sube <sube@e>'],
  sube2: ['a subkey whose end was put off, after its first end', 'sube <sube@e>'],
  pexp1: ['a subkey, before its key expired', 'pexp <pexp@e>'],
};

for (const [name, [what, by]] of Object.entries(good)) {
  test(`${what} signs`, () => {
    assert.equal(judged(name), by);
  });
}

const bad: Readonly<Record<string, readonly [what: string, why: RegExp]>> = {
  subr: ['a subkey that its owner revoked', /is signed by subkey [0-9A-F]{40}, which its owner revoked/],
  sha: ['a key whose own statement is over SHA-1', /no own signature with an accepted hash/],
  sigexp: ['a signature that ended', /has a signature that has expired/],
  text: ['a signature of text', /not one of bytes/],
  dsa: ['DSA', /algorithm DSA, which is not supported/],
  k1: ['secp256k1', /on a curve that is not supported/],
};

for (const [name, [what, why]] of Object.entries(bad)) {
  test(`${what} does not count, and the reason is told`, () => {
    assert.throws(() => judged(name), { reason: 'SignatureInvalid', message: why });
  });
}
