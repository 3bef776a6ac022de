import 'reflect-metadata';
import assert from 'node:assert/strict';
import { type webcrypto, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
// First: where Node loads it for toLegacyObject(), no other file of this process gets a server with TLS.
import 'node:tls';
import { X509CertificateGenerator } from '@peculiar/x509';
import { commonNameOf } from '../../../reconcile/x509/der.ts';

for (const [what, subject] of [
  ['one name', [{ CN: ['c-0'] }]],
  ['one among others', [{ O: ['c'] }, { CN: ['a b'] }, { OU: ['CN=not this one'] }]],
  ['several', [{ CN: ['first'] }, { O: ['c'] }, { CN: ['last'] }]],
  ['one in quotes, beside another attribute', [{ CN: ['Zoë, "quoted" + O=c\\'], O: ['both'] }]],
  ['none', [{ O: ['nobody'] }]],
] as const) {
  test(`of ${what} in a subject, the last is taken, as OpenSSL reads it`, async () => {
    const name = subject.map((attributes) => mapped(attributes));
    const keys = (await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
      'sign',
      'verify',
    ])) as webcrypto.CryptoKeyPair;
    const { rawData } = await X509CertificateGenerator.createSelfSigned({ name, keys });
    const certificate = new X509Certificate(new Uint8Array(rawData));
    const openssl = [certificate.toLegacyObject().subject?.CN ?? []].flat().at(-1);
    assert.equal(commonNameOf(certificate.raw), openssl);
  });
}

for (const [tag, bytes, text] of [
  [0x0c, [0x5a, 0xc3, 0xab], 'Zë'],
  [0x13, [0x5a, 0x65], 'Ze'],
  [0x14, [0x5a, 0xeb], 'Zë'],
  [0x16, [0x5a, 0x65], 'Ze'],
  [0x1e, [0x00, 0x5a, 0x00, 0xeb], 'Zë'],
  [0x1e, [0x00], undefined],
  // Go does not know a UniversalString.
  [0x1c, [0x00, 0x00, 0x00, 0x5a], undefined],
] as const) {
  test(`a common name in a string of type 0x${tag.toString(16)} reads ${text}`, () => {
    const attribute = element(0x30, [0x06, 0x03, 0x55, 0x04, 0x03, ...element(tag, bytes)]);
    const subject = element(0x30, element(0x31, attribute));
    const empty = element(0x30, []);
    // Serial number, signature, issuer, validity, subject.
    const signed = element(0x30, [...element(0x02, [1]), ...empty, ...empty, ...empty, ...subject]);
    assert.equal(commonNameOf(Uint8Array.from(element(0x30, signed))), text);
  });
}

test('what is no certificate has no common name', () => {
  for (const bytes of [[], [0x30], [0x30, 0x84, 0xff, 0xff, 0xff, 0xff], [0x30, 0x02, 0x30, 0x00]]) {
    assert.equal(commonNameOf(Uint8Array.from(bytes)), undefined);
  }
});

function element(tag: number, body: readonly number[]): readonly number[] {
  return [tag, body.length, ...body];
}

function mapped(attributes: Readonly<Record<string, readonly string[]>>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(attributes).map(([key, values]) => [key, [...values]]));
}
